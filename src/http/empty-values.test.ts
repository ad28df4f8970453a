import { afterAll, beforeAll, expect, it } from 'vitest';
import { borrowService, type TestService } from '../../test/support/service.ts';

let service: TestService;
beforeAll(async () => {
  service = await borrowService();
});
afterAll(() => service.stop());

const GROUPS = '/gcore/cloud/v1/securitygroups/1/1';
const rule = (field: string) => ({ direction: 'ingress', protocol: 'tcp', [field]: '' });

it.each(['remote_group_id', 'remote_ip_prefix'])(
  'an empty %s of a rule is refused: without it, the rule is for everybody',
  async (field) => {
    const { body: group } = await service.http.post(GROUPS, { security_group: { name: field } });
    const refused = async (path: string, body: object, at: string) => {
      const answer = await service.http.post(path, body);
      expect([answer.status, Object.keys(answer.body.invalid_fields ?? {})], answer.text).toEqual([400, [at]]);
      expect(answer.headers.get('tradewind-ignored')).toBeNull();
    };
    await refused(`${GROUPS}/${group.id}/rules`, rule(field), field);
    const security_group = { name: 'whole', security_group_rules: [rule(field)] };
    await refused(GROUPS, { security_group }, `security_group.security_group_rules.0.${field}`);
  },
);
