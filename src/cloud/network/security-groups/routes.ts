import { Type } from 'typebox';
import type { Dialect } from '../../../http/dialect.ts';
import { goneSignal } from '../../../http/gone-signal.ts';
import type { Api } from '../../../http/server.ts';
import { presentedPage } from '../../../lib/page.ts';
import { ProjectRegionParams } from '../../../lib/wire.ts';
import type { Platform } from '../../../platform.ts';
import { whenFree } from '../../ground/tasks/service.ts';
import { securityGroupListSchema, securityGroupSchema } from './answer-schema.ts';
import { copySecurityGroup, createSecurityGroup } from './creation.ts';
import { GROUPS, GroupParams, GROUP_TAGS as tags, VERSIONED_GROUP } from './path-schema.ts';
import { presentedGroup } from './presenter.ts';
import { ruleRoutes } from './rules/routes.ts';
import {
  copySecurityGroupSchema,
  createSecurityGroupSchema,
  GroupListQuery,
  updateSecurityGroupSchema,
} from './schema.ts';
import { deleteSecurityGroup, getSecurityGroup, listSecurityGroups } from './service.ts';
import { groupTaskRoutes } from './task-routes.ts';
import { revertSecurityGroup, updateSecurityGroup } from './updates.ts';

export function securityGroupRoutes(app: Api, dialect: Dialect, on: Platform): void {
  app.post(GROUPS, {
    config: { access: 'operate' },
    schema: {
      operationId: 'createSecurityGroup',
      summary: 'Create a security group',
      description:
        'Takes effect immediately. Rules are stored in canonical form. If no rule is an egress rule, the group gets two rules that allow all outbound traffic.',
      tags,
      params: ProjectRegionParams,
      body: createSecurityGroupSchema,
      response: { 200: securityGroupSchema(dialect.name) },
    },
    handler: async ({ scope, body }) =>
      presentedGroup(await createSecurityGroup(on, scope, body), scope, dialect),
  });

  app.get(GROUPS, {
    config: { access: 'read' },
    schema: {
      operationId: 'listSecurityGroups',
      summary: 'List security groups',
      tags,
      params: ProjectRegionParams,
      querystring: GroupListQuery,
      response: { 200: securityGroupListSchema(dialect.name) },
    },
    handler: async ({ scope, query }) =>
      presentedPage(await listSecurityGroups(on, scope, query), (row) => presentedGroup(row, scope, dialect)),
  });

  app.get(`${GROUPS}/:group_id`, {
    config: { access: 'read', versioned: VERSIONED_GROUP },
    schema: {
      operationId: 'getSecurityGroup',
      summary: 'Get a security group',
      tags,
      params: GroupParams,
      response: { 200: securityGroupSchema(dialect.name) },
    },
    handler: async ({ scope, params }) =>
      presentedGroup(await getSecurityGroup(on, scope, params.group_id), scope, dialect),
  });

  app.delete(`${GROUPS}/:group_id`, {
    config: { access: 'operate' },
    schema: {
      operationId: 'deleteSecurityGroup',
      summary: 'Delete a security group',
      description:
        'Returns 409 while a port or a rule of another group uses it. If all of these are being deleted, it waits for up to 30 seconds.',
      tags,
      params: GroupParams,
      response: { 204: Type.Null() },
    },
    handler: async ({ scope, params }, reply) => {
      await whenFree(on, { principal: scope.principal, gone: goneSignal(reply) }, () =>
        deleteSecurityGroup(on, scope, params.group_id),
      );
      return reply.code(204).send(null);
    },
  });

  app.patch(`${GROUPS}/:group_id`, {
    config: { access: 'operate', versioned: VERSIONED_GROUP },
    schema: {
      operationId: 'updateSecurityGroup',
      summary: 'Update a security group',
      description:
        "All changes are applied together, as one revision. Rules are removed before others are added. The default group can't be renamed.",
      tags,
      deprecated: true,
      params: GroupParams,
      body: updateSecurityGroupSchema,
      response: { 200: securityGroupSchema(dialect.name) },
    },
    handler: async ({ scope, params, body }) =>
      presentedGroup(await updateSecurityGroup(on, scope, params.group_id, body), scope, dialect),
  });

  app.post(`${GROUPS}/:group_id/copy`, {
    config: { access: 'operate' },
    schema: {
      operationId: 'copySecurityGroup',
      summary: 'Copy a security group',
      description:
        "Creates a group with the same description, tags and rules. It isn't assigned to any port.",
      tags,
      params: GroupParams,
      body: copySecurityGroupSchema,
      response: { 200: securityGroupSchema(dialect.name) },
    },
    handler: async ({ scope, params, body }) =>
      presentedGroup(await copySecurityGroup(on, scope, params.group_id, body.name), scope, dialect),
  });

  app.post(`${GROUPS}/:group_id/revert`, {
    config: { access: 'operate' },
    schema: {
      operationId: 'revertSecurityGroup',
      summary: 'Restore the default rules of a security group',
      description:
        'Replaces all rules with those of a default group: inbound ICMP, TCP 22 and 3389, and UDP 3389, and all outbound traffic, for IPv4 and IPv6.',
      tags,
      params: GroupParams,
      response: { 200: securityGroupSchema(dialect.name) },
    },
    handler: async ({ scope, params }) =>
      presentedGroup(await revertSecurityGroup(on, scope, params.group_id), scope, dialect),
  });

  ruleRoutes(app, dialect, on);
  groupTaskRoutes(app, dialect, on);
}
