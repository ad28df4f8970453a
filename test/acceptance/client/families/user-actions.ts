import { describe, expect, it } from 'vitest';
import { refusal, type Walk } from '../walk.ts';

const ACTIONS = '/cloud/v1/user_actions';
interface Action {
  id: string;
  api_group: string;
  action_type: string;
  resources: { resource_id: string; resource_type: string; search_field: string | null }[];
}

export function describeUserActions({ client, impatient }: Walk): void {
  describe('user actions', () => {
    it('finds what it did by kind, page by page, and by what it was about', async () => {
      const query = { api_group: ['network'], action_type: ['create', 'delete'], project_id: [1], limit: 2 };
      const actions = await client.all<Action>(ACTIONS, query);
      expect(actions.length).toBeGreaterThan(2);
      expect(new Set(actions.map(({ action_type }) => action_type))).toEqual(new Set(['create', 'delete']));
      const about = actions[0]?.resources[0];
      const same = { resource_id: [String(about?.resource_id)], search_field: about?.search_field ?? '' };
      const found = await client.all<Action>(ACTIONS, { ...same, order_by: 'asc' });
      expect(found.length).toBeGreaterThan(0);
      expect(found.map(({ resources }) => resources[0]?.resource_id)).toEqual(
        found.map(() => about?.resource_id),
      );
    });

    it('finds refused requests in the log of requests', async () => {
      const query = { outcome: ['refused'], limit: 2 };
      const requests = await client.all<{ outcome: string }>('/cloud/v1/request_log', query);
      expect(new Set(requests.map(({ outcome }) => outcome))).toEqual(new Set(['refused']));
    });

    it('subscribes and ends that', async () => {
      const subscription = {
        url: 'https://audit.example.com/actions',
        auth_header_name: 'Authorization',
        auth_header_value: 'Bearer walk',
      };
      await client.silent('POST', `${ACTIONS}/subscribe`, subscription);
      expect(await client.all(`${ACTIONS}/subscriptions_list`)).toEqual([
        { id: expect.any(Number), ...subscription },
      ]);
      await client.silent('POST', `${ACTIONS}/unsubscribe`);
      expect(await client.all(`${ACTIONS}/subscriptions_list`)).toEqual([]);
    });

    it('is told that AMQP is not supported', async () => {
      const broker = { connection_string: 'amqps://guest:guest@broker.example.com:5671/actions' };
      for (const call of ['subscribe_amqp', 'subscribe_amqp_test']) {
        await expect(impatient.post(`${ACTIONS}/${call}`, broker)).rejects.toMatchObject(refusal(400));
      }
      expect(await client.all(`${ACTIONS}/amqp_subscriptions_list`)).toEqual([]);
      const one = `${ACTIONS}/amqp_subscriptions/17`;
      await expect(impatient.get(one)).rejects.toMatchObject(refusal(404));
      await expect(impatient.patch(one, { exchange: 'actions' })).rejects.toMatchObject(refusal(404));
      await client.silent('POST', `${ACTIONS}/unsubscribe_amqp`);
    });
  });
}
