import net from 'node:net';
import fastify from 'fastify';
import { expect, it } from 'vitest';
import { streamed } from './streamed.ts';

it('cuts off a reader that takes nothing, and asks for no more', async () => {
  const app = fastify();
  let [told, hasEnded] = [0, false];
  async function* endless(): AsyncGenerator<string> {
    try {
      for (;;) yield `${++told} ${'x'.repeat(100_000)}\n`;
    } finally {
      hasEnded = true;
    }
  }
  app.get('/', (_, reply) => streamed(reply, 'text/plain', endless(), 100));
  await app.listen();
  const { port } = app.server.address() as net.AddressInfo;
  const reader = net.connect(port).pause();
  reader.on('error', () => {});
  reader.write('GET / HTTP/1.1\r\nHost: localhost\r\n\r\n');
  await expect.poll(() => hasEnded).toBe(true);
  // What the two ends of the connection hold, and no more.
  expect(told).toBeLessThan(1_000);
  reader.destroy();
  await app.close();
});
