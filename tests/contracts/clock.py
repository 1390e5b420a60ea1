"""Contract of every clock."""


class ClockContract:
    """Give a fixture `clock`."""

    def test_time_never_goes_backwards(self, clock):
        readings = [clock.now_seconds() for _ in range(50)]
        assert readings == sorted(readings)

    def test_waiting_ends_at_or_after_the_moment(self, clock):
        moment = clock.now_seconds() + 0.02
        clock.wait_until(moment)
        assert clock.now_seconds() >= moment

    def test_waiting_for_the_past_is_over_at_once_and_does_not_turn_time_back(self, clock):
        now = clock.now_seconds()
        clock.wait_until(now - 1000)
        assert now <= clock.now_seconds() < now + 1
