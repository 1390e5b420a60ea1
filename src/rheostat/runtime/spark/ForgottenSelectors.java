import java.io.IOException;
import java.lang.reflect.Field;
import java.net.ProtocolFamily;
import java.nio.channels.Channel;
import java.nio.channels.DatagramChannel;
import java.nio.channels.Pipe;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.channels.spi.AbstractSelector;
import java.nio.channels.spi.SelectorProvider;
import java.util.Iterator;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.function.Consumer;
import sun.misc.Unsafe;

/**
 * Closes the selectors that Spark forgets.
 *
 * <p>PythonWorkerFactory.createSimpleWorker opens one to wait for its worker, for every Python source of every query that
 * is started, and never closes it. It keeps two descriptors, and a third for the listening socket that is registered
 * with it and thereby not closed either.
 */
public final class ForgottenSelectors extends SelectorProvider implements Consumer {
    private static final String FORGETFUL = "createSimpleWorker";
    private final SelectorProvider given = SelectorProvider.provider();
    private final ConcurrentLinkedQueue waiting = new ConcurrentLinkedQueue();

    /** From now on selectors are opened here. */
    public void accept(Object ignored) {
        try {
            Field theUnsafe = Unsafe.class.getDeclaredField("theUnsafe");
            theUnsafe.setAccessible(true);
            Unsafe unsafe = (Unsafe) theUnsafe.get(null);
            Field instance = Class.forName("java.nio.channels.spi.SelectorProvider$Holder").getDeclaredField("INSTANCE");
            unsafe.putObject(unsafe.staticFieldBase(instance), unsafe.staticFieldOffset(instance), this);
        } catch (Exception failure) {
            throw new IllegalStateException(failure);
        }
    }

    public AbstractSelector openSelector() throws IOException {
        AbstractSelector selector = given.openSelector();
        StackTraceElement[] callers = new Throwable().getStackTrace();
        for (int i = 0; i < callers.length; i++) {
            if (callers[i].getMethodName().equals(FORGETFUL)) {
                closeThoseDone();
                waiting.add(selector);
                break;
            }
        }
        return selector;
    }

    private void closeThoseDone() throws IOException {
        for (Iterator all = waiting.iterator(); all.hasNext();) {
            Selector selector = (Selector) all.next();
            if (isDone(selector)) {
                all.remove();
                selector.close();
            }
        }
    }

    /** Whether the socket that was waited for is closed, as far as its owner is concerned. */
    private static boolean isDone(Selector selector) {
        try {
            boolean known = false;
            for (Iterator keys = selector.keys().iterator(); keys.hasNext();) {
                if (((SelectionKey) keys.next()).channel().isOpen()) {
                    return false;
                }
                known = true;
            }
            return known;
        } catch (RuntimeException inUse) {
            return false;
        }
    }

    public DatagramChannel openDatagramChannel() throws IOException {
        return given.openDatagramChannel();
    }

    public DatagramChannel openDatagramChannel(ProtocolFamily family) throws IOException {
        return given.openDatagramChannel(family);
    }

    public Pipe openPipe() throws IOException {
        return given.openPipe();
    }

    public ServerSocketChannel openServerSocketChannel() throws IOException {
        return given.openServerSocketChannel();
    }

    public ServerSocketChannel openServerSocketChannel(ProtocolFamily family) throws IOException {
        return given.openServerSocketChannel(family);
    }

    public SocketChannel openSocketChannel() throws IOException {
        return given.openSocketChannel();
    }

    public SocketChannel openSocketChannel(ProtocolFamily family) throws IOException {
        return given.openSocketChannel(family);
    }

    public Channel inheritedChannel() throws IOException {
        return given.inheritedChannel();
    }
}
