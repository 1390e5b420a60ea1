import java.io.IOException;
import java.lang.reflect.Method;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.function.Consumer;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.FsConstants;
import org.apache.hadoop.fs.LocalFileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.RawLocalFileSystem;
import org.apache.hadoop.fs.permission.FsPermission;

/** Gives Hadoop a local file system that sets permissions by a system call instead of a process. */
public final class DirectFiles implements Consumer {
    /** The one of Hadoop starts chmod for every file unless its native library is there. */
    public static final class Raw extends RawLocalFileSystem {
        public void setPermission(Path path, FsPermission permission) throws IOException {
            if (permission.getStickyBit()) {
                super.setPermission(path, permission); // Java cannot set it.
                return;
            }
            java.nio.file.Path file = pathToFile(path).toPath();
            Files.setPosixFilePermissions(file, PosixFilePermissions.fromString(permission.toString()));
        }
    }

    /** Makes this the local file system of all callers from now on; checksums are written as before. */
    public void accept(Object configuration) {
        try {
            Configuration conf = (Configuration) configuration;
            LocalFileSystem local = new LocalFileSystem(new Raw());
            local.initialize(FsConstants.LOCAL_FS_URI, conf);
            Method put = FileSystem.class.getDeclaredMethod(
                "addFileSystemForTesting", new Class[] {URI.class, Configuration.class, FileSystem.class});
            put.setAccessible(true);
            put.invoke(null, new Object[] {FsConstants.LOCAL_FS_URI, conf, local});
        } catch (Exception failure) {
            throw new IllegalStateException(failure);
        }
    }
}
