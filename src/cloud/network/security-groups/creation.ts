import { randomUUID } from 'node:crypto';
import { make } from '../../../convergence/wants.ts';
import type { Database, Transaction } from '../../../db/database.ts';
import type { Clock } from '../../../lib/clock.ts';
import { type FieldProblem, InvalidError } from '../../../lib/errors.ts';
import { foundById } from '../../../lib/found.ts';
import { isUuid } from '../../../lib/ids.ts';
import { tagsOf } from '../../../lib/legacy-metadata.ts';
import type { Scope } from '../../ground/projects/service.ts';
import { takeQuota } from '../../ground/quotas/in-transaction.ts';
import type { Tasks } from '../../ground/tasks/service.ts';
import { addToPorts } from '../ports/groups/in-transaction.ts';
import { portsOf as lockedPortsOf } from '../ports/in-transaction.ts';
import { asInRows } from '../ports/wanted.ts';
import { refuseDefaultName, withFreeName } from './apply-change.ts';
import { openRules, withDefaultEgress } from './defaults/rules.ts';
import { noteCreation } from './finished-tasks.ts';
import { acceptedRules, requireRemoteGroups } from './rules/accepted.ts';
import type { CanonicalRule } from './rules/canonical.ts';
import type { CreateSecurityGroup, CreateSecurityGroupTask } from './schema.ts';
import * as store from './store.ts';
import { groupSpec } from './wanted.ts';
import { CLUSTER_TAG } from './worker-groups/cluster-tag.ts';

export interface GroupCreation {
  /**
   * Creates a group with its rules and tags and puts it on all ports of the given instances, all at once.
   * @throws InvalidError, ConflictError for an existing name or rule, NotFoundError for a remote group,
   * QuotaExceededError
   */
  create(scope: Scope, request: CreateSecurityGroup): Promise<store.SecurityGroupRow>;
  /** Does the same without instances. Returns the task that reports it. @throws as `create` */
  createByTask(scope: Scope, request: CreateSecurityGroupTask): Promise<string>;
  /**
   * Creates a group with the rules, description and tags of another one.
   * @throws NotFoundError, ConflictError, QuotaExceededError
   */
  copy(scope: Scope, id: string, name: string): Promise<store.SecurityGroupRow>;
}

interface WantedGroup {
  name: string;
  description: string;
  tags: Record<string, string>;
  rules: CanonicalRule[];
}

export function groupCreation(deps: { database: Database; clock: Clock; tasks: Tasks }): GroupCreation {
  const { database, clock, tasks } = deps;

  return {
    async create(scope, { security_group: given, instances: instanceIds = [] }) {
      const rules = acceptedRules(
        given.security_group_rules ?? [],
        (position) => `security_group.security_group_rules.${position}`,
      );
      const wanted = {
        name: given.name,
        description: given.description ?? '',
        tags: tagsOf(given, 'security_group.'),
        rules: withDefaultEgress(rules),
      };
      return accept(scope, async (tx) => {
        const portIds = await portsOf(tx, scope, [...new Set(instanceIds)]);
        const group = await insert(tx, scope, wanted);
        await addToPorts(
          tx,
          portIds.map((portId) => ({ portId, groupId: group.id })),
        );
        await tasks.want(tx, scope, await asInRows(tx, portIds));
        return group;
      });
    },

    async createByTask(scope, request) {
      const wanted = {
        name: request.name,
        description: request.description ?? '',
        tags: tagsOf(request),
        rules: request.rules ? acceptedRules(request.rules, (position) => `rules.${position}`) : openRules(),
      };
      return accept(scope, async (tx) => {
        const group = await insert(tx, scope, wanted);
        return noteCreation(tx, tasks, scope, { groupId: group.id, request });
      });
    },

    async copy(scope, id, name) {
      return accept(scope, async (tx) => {
        const source = await foundById('Security group', id, () => store.findGroup(tx.sql, scope, id));
        const { description, cluster_id, tags } = source;
        const { [CLUSTER_TAG]: _, ...others } = tags;
        return insert(tx, scope, {
          name,
          description,
          // With the tag, the official clients would take the copy for the cluster's own group.
          tags: cluster_id === null ? tags : others,
          rules: source.rules.map(copied),
        });
      });
    },
  };

  async function accept<T>(scope: Scope, work: (tx: Transaction) => Promise<T>): Promise<T> {
    return database.accept(scope.principal, async (tx) => {
      const made = await work(tx);
      await takeQuota(tx, scope, 'firewall_count');
      return made;
    });
  }

  async function insert(tx: Transaction, scope: Scope, wanted: WantedGroup): Promise<store.SecurityGroupRow> {
    const { rules, ...group } = wanted;
    refuseDefaultName(group.name);
    const now = clock.now();
    await requireRemoteGroups(tx, scope, rules);
    const identified = rules.map((rule) => ({ ...rule, id: randomUUID() }));
    const made = await withFreeName(
      group.name,
      store.insertGroup(tx, {
        ...group,
        id: randomUUID(),
        place: scope,
        isDefault: false,
        rules: identified,
        now,
      }),
    );
    scope.principal.writes?.about({ ...made, type: 'securitygroup' });
    await tasks.want(tx, scope, [make('security_group', made.id, groupSpec(made))]);
    return made;
  }

  async function portsOf(tx: Transaction, scope: Scope, instanceIds: string[]): Promise<string[]> {
    if (instanceIds.length === 0) return [];
    const ports = await lockedPortsOf(tx, scope, instanceIds.filter(isUuid));
    const unknown = instanceIds.flatMap((id, index): FieldProblem[] =>
      ports.has(id)
        ? []
        : [{ field: `instances.${index}`, message: `No instance ${id} in this project and region.` }],
    );
    if (unknown.length > 0) throw new InvalidError(unknown);
    return [...ports.values()].flat();
  }
}

function copied(rule: CanonicalRule): CanonicalRule {
  return {
    direction: rule.direction,
    ethertype: rule.ethertype,
    protocol: rule.protocol,
    port_range_min: rule.port_range_min,
    port_range_max: rule.port_range_max,
    remote_ip_prefix: rule.remote_ip_prefix,
    remote_group_id: rule.remote_group_id,
    description: rule.description,
  };
}
