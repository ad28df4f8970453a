import { sql } from 'kysely';
import type { Transaction } from '../../db/database.ts';
import type { CreatedResources, TaskHandler } from '../../workflows/task-handler.ts';
import type { Scope } from '../projects/service.ts';
import { releaseQuota } from '../quotas/quotas.ts';
import type { Tasks } from '../tasks/service.ts';
import { deleteRules } from './rule-store.ts';
import { deleteGroup } from './store.ts';

/**
 * Groups and rules change when the request is accepted, in its transaction: nothing has to be built, and whoever reads
 * next sees the change. The tasks only tell clients that wait for one that it is so.
 */
const CREATE_GROUP = 'create_security_group';
const UPDATE_GROUP = 'update_security_group';
const CREATE_RULE = 'create_security_group_rule';
const DELETE_RULE = 'delete_security_group_rule';
const DEADLINE_MS = 10 * 60_000;

interface NewGroupInput {
  groupId: string;
  clientId: number;
  regionId: number;
}
interface NewRuleInput {
  groupId: string;
  ruleId: string;
}

export function startCreation(
  tx: Transaction,
  tasks: Tasks,
  scope: Scope,
  { groupId, request }: { groupId: string; request: object },
): Promise<string> {
  const input: NewGroupInput = { groupId, clientId: scope.clientId, regionId: scope.region.id };
  return tasks.start(tx, scope, { type: CREATE_GROUP, data: request, input, deadlineMs: DEADLINE_MS });
}

export function startUpdate(
  tx: Transaction,
  tasks: Tasks,
  scope: Scope,
  { groupId, request }: { groupId: string; request: object },
): Promise<string> {
  const data = { ...request, security_group_id: groupId };
  return tasks.start(tx, scope, { type: UPDATE_GROUP, data, input: {}, deadlineMs: DEADLINE_MS });
}

export function startRuleCreation(
  tx: Transaction,
  tasks: Tasks,
  scope: Scope,
  { request, ...input }: NewRuleInput & { request: object },
): Promise<string> {
  const data = { ...request, security_group_id: input.groupId };
  return tasks.start(tx, scope, { type: CREATE_RULE, data, input, deadlineMs: DEADLINE_MS });
}

export function startRuleRemoval(
  tx: Transaction,
  tasks: Tasks,
  scope: Scope,
  { groupId, ruleId }: NewRuleInput,
): Promise<string> {
  const data = { security_group_id: groupId, security_group_rule_id: ruleId };
  return tasks.start(tx, scope, { type: DELETE_RULE, data, input: {}, deadlineMs: DEADLINE_MS });
}

export function securityGroupHandlers(): TaskHandler[] {
  return [
    handler<NewGroupInput>(CREATE_GROUP, ({ groupId }) => ({ security_groups: [groupId] }), dropGroup),
    handler(UPDATE_GROUP, () => null),
    handler<NewRuleInput>(CREATE_RULE, ({ ruleId }) => ({ security_group_rules: [ruleId] }), dropRule),
    handler(DELETE_RULE, () => null),
  ];
}

function handler<Input>(
  type: string,
  created: (input: Input) => CreatedResources | null,
  abandon: (tx: Transaction, input: Input) => Promise<void> = async () => {},
): TaskHandler<Input, null> {
  return {
    type,
    deadlineMs: DEADLINE_MS,
    run: async () => null,
    complete: async (_tx, _task, input) => created(input),
    abandon: (tx, _task, input) => abandon(tx, input),
  };
}

/** A creation that nobody reported leaves nothing behind, unless the group is used already. */
async function dropGroup(tx: Transaction, { groupId, ...owner }: NewGroupInput): Promise<void> {
  if (await deleteGroup(tx, groupId)) await releaseQuota(tx, owner, 'firewall_count');
}

async function dropRule(tx: Transaction, { groupId, ruleId }: NewRuleInput): Promise<void> {
  await tx.sql
    .updateTable('security_groups')
    .set({ revision_number: sql`revision_number + 1` })
    .where('id', '=', groupId)
    .execute();
  await deleteRules(tx, [ruleId]);
}
