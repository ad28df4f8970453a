import { randomUUID } from 'node:crypto';
import { type Database, type Transaction, violates } from '../../db/database.ts';
import type { Clock } from '../../lib/clock.ts';
import { ConflictError, type FieldProblem, InvalidError, NotFoundError } from '../../lib/errors.ts';
import { isUuid } from '../../lib/ids.ts';
import { acceptedTags } from '../../lib/tags-input.ts';
import { type Place, placeOf } from '../projects/place.ts';
import type { Scope } from '../projects/service.ts';
import { releaseQuota, takeQuota } from '../quotas/quotas.ts';
import { withDefaultEgress } from './default-rules.ts';
import { duplicateKey, refuseDuplicates } from './rule-duplicates.ts';
import { ruleProblems } from './rule-problems.ts';
import { canonicalRule, type RuleInput } from './rules.ts';
import type { CreateSecurityGroup } from './schema.ts';
import * as store from './store.ts';

/** What this feature needs to know of instances. */
export interface InstancePorts {
  /** The ports of each instance of the scope, by instance id; an instance that doesn't exist is left out. */
  portsOf(tx: Transaction, scope: Scope, instanceIds: string[]): Promise<Map<string, string[]>>;
}

export interface SecurityGroups {
  /**
   * Makes a group with its rules and tags, on all ports of the given instances, all at once.
   * @throws InvalidError, ConflictError for a name or rule that exists already, NotFoundError for a remote group, QuotaExceededError
   */
  create(scope: Scope, request: CreateSecurityGroup): Promise<store.SecurityGroupRow>;
  list(scope: Scope, filter: store.GroupFilter): Promise<{ count: number; rows: store.SecurityGroupRow[] }>;
  /** @throws NotFoundError */
  get(scope: Scope, id: string): Promise<store.SecurityGroupRow>;
  /** @throws NotFoundError, ConflictError while ports or rules use the group */
  delete(scope: Scope, id: string): Promise<void>;
}

const SHOWN_IN_MESSAGE = 10;

export function createSecurityGroups(deps: {
  database: Database;
  clock: Clock;
  instances: InstancePorts;
}): SecurityGroups {
  const { database, clock, instances } = deps;

  return {
    async create(scope, request) {
      const { security_group: wanted } = request;
      const place = placeOf(scope);
      const rules = withDefaultEgress(acceptedRules(wanted.security_group_rules ?? []));
      const tags = acceptedTags(wanted.tags, 'security_group.tags');
      if (wanted.name.toLowerCase() === 'default') throw nameTaken(wanted.name);
      const instanceIds = [...new Set(request.instances ?? [])];
      const now = clock.now();
      try {
        return await database.transaction(async (tx) => {
          await requireRemoteGroups(tx, place, rules);
          const portIds = await portsOf(tx, scope, instanceIds);
          const group = await store.insertGroup(tx, {
            id: randomUUID(),
            place,
            name: wanted.name,
            description: wanted.description ?? '',
            tags,
            isDefault: false,
            now,
          });
          const rows = await store.insertRules(
            tx,
            group.id,
            rules.map((rule) => ({ ...rule, id: randomUUID(), duplicateKey: duplicateKey(rule) })),
            now,
          );
          await store.putOnPorts(
            tx,
            portIds.map((portId) => ({ portId, groupId: group.id })),
          );
          await takeQuota(tx, scope, 'firewall_count');
          return { ...group, rules: rows };
        });
      } catch (error) {
        if (violates(error, 'security_groups_name')) throw nameTaken(wanted.name);
        throw error;
      }
    },

    list: (scope, filter) => store.listGroups(database.sql, placeOf(scope), filter),

    async get(scope, id) {
      const row = isUuid(id) ? await store.findGroup(database.sql, placeOf(scope), id) : undefined;
      if (!row) throw new NotFoundError('Security group', id);
      return row;
    },

    async delete(scope, id) {
      if (!isUuid(id)) throw new NotFoundError('Security group', id);
      await database.transaction(async (tx) => {
        const group = await store.lockGroup(tx, placeOf(scope), id);
        if (!group) throw new NotFoundError('Security group', id);
        if (group.is_default)
          throw new ConflictError('The default security group of a project cannot be deleted');
        const ports = await store.portsOfGroup(tx.sql, id, SHOWN_IN_MESSAGE);
        if (ports.length > 0) {
          throw new ConflictError(
            `Security group ${group.name} is in use: take it off these ports first: ${ports.join(', ')}`,
          );
        }
        const others = await store.groupsReferringTo(tx.sql, id, SHOWN_IN_MESSAGE);
        if (others.length > 0) {
          throw new ConflictError(
            `Security group ${group.name} is in use: rules of these security groups name it as their remote group: ${others.join(', ')}`,
          );
        }
        try {
          await store.deleteGroup(tx, id);
        } catch (error) {
          if (!violates(error, 'kubernetes_pool_security_groups_group')) throw error;
          throw new ConflictError(`Security group ${group.name} is in use by a pool of a Kubernetes cluster`);
        }
        await releaseQuota(tx, { clientId: scope.clientId, regionId: scope.region.id }, 'firewall_count');
      });
    },
  };

  async function portsOf(tx: Transaction, scope: Scope, instanceIds: string[]): Promise<string[]> {
    if (instanceIds.length === 0) return [];
    const ports = await instances.portsOf(tx, scope, instanceIds.filter(isUuid));
    const unknown = instanceIds.flatMap((id, index): FieldProblem[] =>
      ports.has(id)
        ? []
        : [{ field: `instances.${index}`, message: `No instance ${id} in this project and region.` }],
    );
    if (unknown.length > 0) throw new InvalidError(unknown);
    return [...ports.values()].flat();
  }
}

function nameTaken(name: string): ConflictError {
  return new ConflictError(
    `A security group named ${name} exists already in this project and region; choose another name`,
  );
}

function acceptedRules(given: RuleInput[]) {
  const problems = given.flatMap((rule, index) =>
    ruleProblems(rule, `security_group.security_group_rules.${index}`),
  );
  if (problems.length > 0) throw new InvalidError(problems);
  const rules = given.map(canonicalRule);
  refuseDuplicates(rules, 'security_group.security_group_rules');
  return rules;
}

/** @throws NotFoundError for a remote group that the project doesn't have in this region (Neutron answers the same). */
async function requireRemoteGroups(
  tx: Transaction,
  place: Place,
  rules: { remote_group_id: string | null }[],
): Promise<void> {
  const ids = [...new Set(rules.flatMap((rule) => rule.remote_group_id ?? []))];
  const known = await store.existingGroups(tx.sql, place, ids);
  const missing = ids.find((id) => !known.has(id));
  if (missing !== undefined) throw new NotFoundError('Remote security group', missing);
}
