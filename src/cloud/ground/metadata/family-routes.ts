import { Type } from 'typebox';
import type { Api } from '../../../http/server.ts';
import { TagAnswer } from '../../../lib/resource-fields.ts';
import { TagsInput } from '../../../lib/tags-input.ts';
import type { Versioned } from '../../../lib/versioned.ts';
import type { Platform } from '../../../platform.ts';
import type { Scope } from '../projects/service.ts';
import { KeyQuery, type ResourcePath, resourceParams, TagList } from './schema.ts';
import { addTags, getTag, listTags, removeTag, replaceTags, type TagHolder } from './service.ts';

export interface FamilyAddress {
  /** The part of the path before project and region, such as `/cloud/v1/subnets`. */
  base: string;
  /** The path parameter with the resource's ID. */
  parameter: string;
  /** End of the operation IDs, such as `SecurityGroup`. `generation` tells several paths to the same tags apart. */
  name: string;
  generation?: string;
  /** What the tags are a part of, where no route says it for the address above. */
  versioned?: Versioned;
  /** The kind of resource, for use in sentences. */
  one: string;
  /** The group of these operations in the API document. */
  group: string;
}

function addressed(family: FamilyAddress) {
  const { base, parameter, name, generation = '', versioned } = family;
  return {
    url: `${base}/:project_id/:region_id/:${parameter}/metadata`,
    params: resourceParams(parameter),
    changes: { access: 'operate', ...(versioned && { versioned }) } as const,
    schema: (verb: string, rest: string, summary: string) => ({
      operationId: `${verb}${name}Metadata${rest}${generation}`,
      summary: `${summary} of ${family.one}`,
      tags: [family.group],
      deprecated: true,
    }),
    target: ({ scope, params }: { scope: Scope; params: ResourcePath }) =>
      [scope, String(params[parameter])] as const,
  };
}

/** Routes for the tags of one kind of resource: all of them at once, or one by one. */
export function familyRoutes(app: Api, on: Platform, holder: TagHolder, family: FamilyAddress): void {
  const { url, params, changes, schema, target } = addressed(family);

  app.get(url, {
    config: { access: 'read' },
    schema: { ...schema('list', '', 'List the tags'), params: params.resource, response: { 200: TagList } },
    handler: async (request) => {
      const results = await listTags(on, holder, ...target(request));
      return { count: results.length, results };
    },
  });

  app.post(url, {
    config: changes,
    schema: {
      ...schema('add', '', 'Add or update tags'),
      description: "Other tags don't change.",
      params: params.resource,
      body: TagsInput,
      response: { 204: Type.Null() },
    },
    handler: async (request, reply) => {
      await addTags(on, holder, ...target(request), request.body);
      return reply.code(204).send(null);
    },
  });

  app.put(url, {
    config: changes,
    schema: {
      ...schema('replace', '', 'Replace all tags'),
      params: params.resource,
      body: TagsInput,
      response: { 204: Type.Null() },
    },
    handler: async (request, reply) => {
      await replaceTags(on, holder, ...target(request), request.body);
      return reply.code(204).send(null);
    },
  });

  app.get(`${url}_item`, {
    config: { access: 'read' },
    schema: {
      ...schema('get', 'Item', 'Get a tag'),
      params: params.resource,
      querystring: KeyQuery,
      response: { 200: TagAnswer },
    },
    handler: async (request) => getTag(on, holder, ...target(request), request.query.key),
  });

  app.delete(`${url}_item`, {
    config: changes,
    schema: {
      ...schema('delete', 'Item', 'Delete a tag'),
      params: params.resource,
      querystring: KeyQuery,
      response: { 204: Type.Null() },
    },
    handler: async (request, reply) => {
      await removeTag(on, holder, ...target(request), request.query.key);
      return reply.code(204).send(null);
    },
  });
}

/** Routes for single tags with the key in the path, which some kinds offer in addition. */
export function tagByKeyRoutes(app: Api, on: Platform, holder: TagHolder, family: FamilyAddress): void {
  const { url, params, changes, schema, target } = addressed(family);

  app.get(`${url}/:key`, {
    config: { access: 'read' },
    schema: { ...schema('get', 'ByKey', 'Get a tag'), params: params.tag, response: { 200: TagAnswer } },
    handler: async (request) => getTag(on, holder, ...target(request), request.params.key),
  });

  app.delete(`${url}/:key`, {
    config: changes,
    schema: {
      ...schema('delete', 'ByKey', 'Delete a tag'),
      params: params.tag,
      response: { 204: Type.Null() },
    },
    handler: async (request, reply) => {
      await removeTag(on, holder, ...target(request), request.params.key);
      return reply.code(204).send(null);
    },
  });
}
