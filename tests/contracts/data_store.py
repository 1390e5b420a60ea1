"""What every store of state promises."""

import pytest


def tree(directory, **files):
    directory.mkdir(parents=True)
    for name, text in files.items():
        (directory / name).write_text(text)
    return directory


class DataStoreContract:
    """Give a fixture `store`, empty."""

    def test_a_tree_comes_back_as_it_was(self, store, tmp_path):
        directory = tree(tmp_path / "state", offsets="1", commits="2")
        tree(directory / "inner", data="x")
        store.save("state/count/7", directory)
        store.load("state/count/7", tmp_path / "again")
        files = sorted(
            p.relative_to(tmp_path / "again").as_posix() for p in (tmp_path / "again").rglob("*") if p.is_file()
        )
        assert files == ["commits", "inner/data", "offsets"]
        assert (tmp_path / "again" / "inner" / "data").read_text() == "x"

    def test_a_copy_is_a_copy(self, store, tmp_path):
        directory = tree(tmp_path / "state", offsets="1")
        store.save("a", directory)
        (directory / "offsets").write_text("changed")
        store.load("a", tmp_path / "again")
        assert (tmp_path / "again" / "offsets").read_text() == "1"

    def test_keys_are_listed_below_a_prefix(self, store, tmp_path):
        directory = tree(tmp_path / "state", offsets="1")
        for key in ("b/1", "a/2", "a/10"):
            store.save(key, directory)
        assert list(store.keys()) == ["a/10", "a/2", "b/1"]
        assert list(store.keys("a/")) == ["a/10", "a/2"]

    def test_a_key_is_written_once(self, store, tmp_path):
        directory = tree(tmp_path / "state", offsets="1")
        store.save("a", directory)
        with pytest.raises(ValueError, match="stored already"):
            store.save("a", directory)

    def test_what_is_not_there_cannot_be_loaded_and_is_deleted_already(self, store, tmp_path):
        with pytest.raises(KeyError):
            store.load("nothing", tmp_path / "again")
        assert not (tmp_path / "again").exists()
        store.delete("nothing")

    def test_deleted_is_deleted(self, store, tmp_path):
        store.save("a/b", tree(tmp_path / "state", offsets="1"))
        store.delete("a/b")
        assert list(store.keys()) == []
        store.save("a/b", tmp_path / "state")

    @pytest.mark.parametrize("key", ["", "/etc", "../up", "a/../b", "a//b", "a/"])
    def test_a_key_cannot_point_elsewhere(self, store, tmp_path, key):
        with pytest.raises(ValueError, match="plain relative path"):
            store.save(key, tree(tmp_path / "state", offsets="1"))
