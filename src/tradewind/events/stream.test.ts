import net from 'node:net';
import fastify from 'fastify';
import { expect, it } from 'vitest';
import type { Told } from './presenter.ts';
import { stream } from './stream.ts';

it('cuts off a reader that takes nothing, and asks for no more', async () => {
  const app = fastify();
  let [told, hasEnded] = [0, false];
  async function* endless(): AsyncGenerator<Told> {
    const row = { client_id: 1, project_id: null, type: 'tradewind.volume.created', id: '', subject: '' };
    const data = { text: 'x'.repeat(100_000) };
    try {
      for (;;) {
        const event = { ...row, position: ++told, time: new Date(), data };
        yield { events: [event], reset: false, cursor: `${told}` };
      }
    } finally {
      hasEnded = true;
    }
  }
  app.get('/', (_, reply) => stream(reply, 'text/event-stream', endless(), 100));
  await app.listen();
  const { port } = app.server.address() as net.AddressInfo;
  const reader = net.connect(port).pause();
  reader.on('error', () => {});
  reader.write('GET / HTTP/1.1\r\nHost: localhost\r\n\r\n');
  await expect.poll(() => hasEnded, { timeout: 20_000 }).toBe(true);
  // What the two ends of the connection hold, and no more.
  expect(told).toBeLessThan(1_000);
  reader.destroy();
  await app.close();
});
