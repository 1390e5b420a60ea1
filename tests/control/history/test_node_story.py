"""A decision about nodes, from what a region asked for to what came and went."""

from tests.control.managers.test_infrastructure_managers import Town
from tests.control.still_world import StillWorld, nodes

from rheostat.control.history.decision_story import Result
from rheostat.control.history.journal import MemoryJournal
from rheostat.control.history.node_story import node_stories
from rheostat.control.loop.ports import NODE_JOINED, Entry
from rheostat.policies.nodes.region_grants import AcceptUnlessOccupied


def told(story):
    return dict(story.chapters())


def town(**settings):
    return Town(StillWorld(at=nodes(3, 1.0)), **settings)


def test_a_start_is_told_from_what_was_missing_to_the_room_it_brought():
    place = town(free=2)
    place.minute(0)
    names = [node.name for node in place.world.coming]
    place.world.arrive()
    for name in names:
        place.world.journal.append(Entry(NODE_JOINED, 9.0, {"name": name}))
    place.minute(1)
    (story,) = node_stories(place.world.journal)
    assert list(told(story)) == ["seen", "proposed", "chosen", "expected", "done", "measured"]
    assert told(story)["seen"].startswith("3 nodes in the only region with 3 places, 3 of them taken, n0 50% busy")
    assert "wants to start 2 small: room for 0 replicas, 2 are wanted" in told(story)["proposed"]
    assert told(story)["expected"] == told(story)["measured"] == "room for 2 replicas in the region"
    assert told(story)["done"] == "small3 was up after 9 s; small4 was up after 9 s"
    assert story.result() == Result("start small3, small4", "done")


def test_a_node_that_is_not_yet_up_is_under_way_and_one_that_never_comes_is_given_up():
    place = town(free=1)
    place.minute(0)
    (story,) = node_stories(place.world.journal)
    assert (story.result().outcome, told(story)["under way"]) == ("under way", "small3 is not yet up")
    place.world.coming = []
    place.minute(10)
    first, again = node_stories(place.world.journal)
    assert first.result() == Result("start small3", "given up", reasons=("not up after 600 s",))
    assert "600 s later" in told(first)["undone"]
    assert again.result().outcome == "under way"


def test_what_the_limit_on_nodes_forbids_is_told_as_refused():
    place = town(free=2, policy=AcceptUnlessOccupied(max_nodes=3))
    place.minute(0)
    (story,) = node_stories(place.world.journal)
    assert story.result() is None
    assert told(story)["refused"] == "Refused: start 2 small; there are 3 of at most 3 nodes."
    assert told(story)["chosen"] == "nothing: everything stays as it is"


def test_a_node_that_is_to_be_left_is_one_story_until_it_is_gone():
    world = StillWorld(at=nodes(5, 2.0))
    world.cpu = {"n2": 0.05}
    place = Town(world, free=1)
    for minute in range(4):
        place.minute(minute)
    stories = node_stories(world.journal)
    (left,) = [story for story in stories if story.leaves == "n2"]
    assert left.result() == Result("have n2 left", "done")
    assert "it is under-used" in told(left)["chosen"]
    assert "stopped n2" in told(left)["done"]
    assert [story.stopped for story in stories if story.leaves is None] == [["n4", "n3"]]


def test_a_node_that_nobody_leaves_in_time_is_cancelled():
    world = StillWorld(at=nodes(4, 2.0))
    world.cpu = {"n2": 0.05}
    place = Town(world, free=1)
    place.minute(0)
    world.journal.append(Entry("infrastructure", 300.0, {"by": "m", "cancelled": "n2", "reason": "not left in time"}))
    stories = [story for story in node_stories(world.journal) if story.leaves == "n2"]
    assert [story.result() for story in stories] == [Result("have n2 left", "cancelled", reasons=("not left in time",))]
    assert told(stories[0])["undone"] == "300 s later: m lets n2 be used again: not left in time."


def test_a_journal_without_nodes_has_no_such_stories():
    assert node_stories(MemoryJournal()) == []
