import { type Static, Type } from 'typebox';
import type { Dialect } from '../../http/dialect.ts';
import type { Api } from '../../http/server.ts';
import { tagFilter, tagQuery } from '../../lib/tag-query.ts';
import { listQuery, ProjectRegion, ProjectRegionParams } from '../../lib/wire.ts';
import { type Projects, scopeOf } from '../projects/service.ts';
import { presentedGroup } from './presenter.ts';
import { createSecurityGroupSchema, securityGroupListSchema, securityGroupSchema } from './schema.ts';
import type { SecurityGroups } from './service.ts';

const BASE = '/cloud/v1/securitygroups/:project_id/:region_id';
const tags = ['Security groups'];

const GroupParams = Type.Object({
  ...ProjectRegion,
  group_id: Type.String({ description: 'Security group ID' }),
});
const GroupListQuery = Type.Object(
  {
    ...listQuery(10),
    name: Type.Optional(Type.String({ maxLength: 255, description: 'The whole name' })),
    ...tagQuery,
  },
  { additionalProperties: false },
);

export function securityGroupRoutes(
  app: Api,
  dialect: Dialect,
  { projects, securityGroups }: { projects: Projects; securityGroups: SecurityGroups },
): void {
  app.post(BASE, {
    config: { access: 'operate' },
    schema: {
      operationId: 'createSecurityGroup',
      summary: 'Create a security group',
      description:
        'Makes the group at once, with its rules in canonical form. A group that is given no egress rule gets the two that allow everything out.',
      tags,
      params: ProjectRegionParams,
      body: createSecurityGroupSchema,
      response: { 200: securityGroupSchema(dialect.name) },
    },
    handler: async (request) => {
      const scope = await projects.scope(scopeOf(request));
      return presentedGroup(await securityGroups.create(scope, request.body), scope, dialect);
    },
  });

  app.get(BASE, {
    config: { access: 'read' },
    schema: {
      operationId: 'listSecurityGroups',
      summary: 'List security groups',
      tags,
      params: ProjectRegionParams,
      querystring: GroupListQuery,
      response: { 200: securityGroupListSchema(dialect.name) },
    },
    handler: async (request) => {
      const scope = await projects.scope(scopeOf(request));
      const { count, rows } = await securityGroups.list(scope, groupFilter(request.query));
      return { count, results: rows.map((row) => presentedGroup(row, scope, dialect)) };
    },
  });

  app.get(`${BASE}/:group_id`, {
    config: { access: 'read' },
    schema: {
      operationId: 'getSecurityGroup',
      summary: 'Get a security group',
      tags,
      params: GroupParams,
      response: { 200: securityGroupSchema(dialect.name) },
    },
    handler: async (request) => {
      const scope = await projects.scope(scopeOf(request));
      return presentedGroup(await securityGroups.get(scope, request.params.group_id), scope, dialect);
    },
  });

  app.delete(`${BASE}/:group_id`, {
    config: { access: 'operate' },
    schema: {
      operationId: 'deleteSecurityGroup',
      summary: 'Delete a security group',
      description: 'Refused with 409 while a port or a rule of another group uses it.',
      tags,
      params: GroupParams,
      response: { 204: Type.Null() },
    },
    handler: async (request, reply) => {
      const scope = await projects.scope(scopeOf(request));
      await securityGroups.delete(scope, request.params.group_id);
      return reply.code(204).send(null);
    },
  });
}

function groupFilter(query: Static<typeof GroupListQuery>) {
  return { name: query.name, ...tagFilter(query), limit: query.limit ?? 10, offset: query.offset ?? 0 };
}
