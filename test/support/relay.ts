import fs from 'node:fs';
import net from 'node:net';
import os from 'node:os';
import path from 'node:path';

export interface Relay {
  /** The same database, reached through the relay. */
  url: string;
  /** Breaks every connection and refuses new ones, like a killed database server. */
  cut(): Promise<void>;
  mend(): Promise<void>;
}

/** Puts a unix socket in front of the database's, to take the database away and give it back. */
export async function startRelay(databaseUrl: string): Promise<Relay> {
  const target = new URL(databaseUrl);
  const file = `.s.PGSQL.${target.port || 5432}`;
  const upstream = path.join(target.searchParams.get('host') ?? '', file);
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'relay-'));
  const open = new Set<net.Socket>();
  const keep = (socket: net.Socket) => {
    open.add(socket);
    socket.on('error', () => {}).on('close', () => open.delete(socket));
  };
  const server = net.createServer((near) => {
    const far = net.connect(upstream);
    for (const socket of [near, far]) keep(socket);
    near.on('close', () => far.destroy());
    far.on('close', () => near.destroy());
    near.pipe(far).pipe(near);
  });
  const mend = () => new Promise<void>((resolve) => server.listen(path.join(folder, file), resolve));
  await mend();
  target.searchParams.set('host', folder);
  return {
    url: target.href,
    mend,
    async cut() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      for (const socket of open) socket.destroy();
      await closed;
    },
  };
}
