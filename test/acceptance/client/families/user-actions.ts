import { describe, expect, it } from 'vitest';
import { refusal, type Walk } from '../client.ts';

const ACTIONS = '/cloud/v1/user_actions';
export function describeUserActions({ client }: Walk): void {
  describe('user actions', () => {
    it('finds refused requests in the log of requests', async () => {
      const key = { name: 'walk refused' };
      await client.post('/cloud/v1/ssh_keys/1', key);
      await expect(client.post('/cloud/v1/ssh_keys/1', key)).rejects.toMatchObject(refusal(409));
      const query = { outcome: 'refused', limit: 2 };
      const requests = await client.list<{ outcome: string }>('/cloud/v1/request_log', query);
      expect(new Set(requests.map(({ outcome }) => outcome))).toEqual(new Set(['refused']));
    });

    it('subscribes and ends that', async () => {
      const subscription = {
        url: 'https://audit.example.com/actions',
        auth_header_name: 'Authorization',
        auth_header_value: 'Bearer walk',
      };
      await client.silent('POST', `${ACTIONS}/subscribe`, subscription);
      expect(await client.list(`${ACTIONS}/subscriptions_list`)).toEqual([{ id: expect.any(Number), ...subscription }]);
      await client.silent('POST', `${ACTIONS}/unsubscribe`);
      expect(await client.list(`${ACTIONS}/subscriptions_list`)).toEqual([]);
    });

    it('is told that AMQP is not supported', async () => {
      const broker = { connection_string: 'amqps://guest:guest@broker.example.com:5671/actions' };
      for (const call of ['subscribe_amqp', 'subscribe_amqp_test']) {
        await expect(client.post(`${ACTIONS}/${call}`, broker)).rejects.toMatchObject(refusal(400));
      }
      expect(await client.list(`${ACTIONS}/amqp_subscriptions_list`)).toEqual([]);
      const one = `${ACTIONS}/amqp_subscriptions/17`;
      await expect(client.get(one)).rejects.toMatchObject(refusal(404));
      await expect(client.patch(one, { exchange: 'actions' })).rejects.toMatchObject(refusal(404));
      await client.silent('POST', `${ACTIONS}/unsubscribe_amqp`);
    });
  });
}
