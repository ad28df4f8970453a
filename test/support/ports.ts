import net from 'node:net';

const HERE = '127.0.0.1';
/** Below those that systems give to outgoing connections and to servers that ask for any. */
const [FROM, TO, EACH] = [28_000, 32_000, 100];

/**
 * Returns ports for programs that can't choose one by themselves. They are this process's until it ends, since it listens
 * on the one before them: other files, and other runs on this machine, get others.
 */
export async function reservePorts(): Promise<{ from: number; to: number }> {
  for (let guard = FROM; guard < TO; guard += EACH) {
    if (await listens(guard)) return { from: guard + 1, to: guard + EACH - 1 };
  }
  throw new Error(`Others have all ports from ${FROM} to ${TO}`);
}

/** Returns a port that nobody else takes. */
export async function reservePort(): Promise<number> {
  return (await reservePorts()).from;
}

function listens(port: number): Promise<boolean> {
  const server = net.createServer().unref();
  return new Promise((resolve) => {
    server.once('error', () => resolve(false));
    server.listen({ host: HERE, port, exclusive: true }, () => resolve(true));
  });
}
