import { operations } from '../../../http/operations.ts';
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
    changes: versioned && { versioned },
    /** Operation ID and summary. */
    named: (verb: string, rest: string, summary: string) =>
      [`${verb}${name}Metadata${rest}${generation}`, `${summary} of ${family.one}`] as const,
    target: ({ scope, params }: { scope: Scope; params: ResourcePath }) =>
      [scope, String(params[parameter])] as const,
  };
}

/** Routes for the tags of one kind of resource: all of them at once, or one by one. */
export function familyRoutes(app: Api, on: Platform, holder: TagHolder, family: FamilyAddress): void {
  const { url, params, changes, named, target } = addressed(family);
  const api = operations(app, { tags: [family.group], params: params.resource, deprecated: true });

  api.get(url, ...named('list', '', 'List the tags'), {
    answer: TagList,
    handler: async (call) => {
      const results = await listTags(on, holder, ...target(call));
      return { count: results.length, results };
    },
  });

  api.post(url, ...named('add', '', 'Add or update tags'), {
    ...changes,
    description: "Other tags don't change.",
    body: TagsInput,
    handler: (call) => addTags(on, holder, ...target(call), call.body),
  });

  api.put(url, ...named('replace', '', 'Replace all tags'), {
    ...changes,
    body: TagsInput,
    handler: (call) => replaceTags(on, holder, ...target(call), call.body),
  });

  api.get(`${url}_item`, ...named('get', 'Item', 'Get a tag'), {
    query: KeyQuery,
    answer: TagAnswer,
    handler: (call) => getTag(on, holder, ...target(call), call.query.key),
  });

  api.delete(`${url}_item`, ...named('delete', 'Item', 'Delete a tag'), {
    ...changes,
    query: KeyQuery,
    handler: (call) => removeTag(on, holder, ...target(call), call.query.key),
  });
}

/** Routes for single tags with the key in the path, which some kinds offer in addition. */
export function tagByKeyRoutes(app: Api, on: Platform, holder: TagHolder, family: FamilyAddress): void {
  const { url, params, changes, named, target } = addressed(family);
  const api = operations(app, { tags: [family.group], params: params.tag, deprecated: true });

  api.get(`${url}/:key`, ...named('get', 'ByKey', 'Get a tag'), {
    answer: TagAnswer,
    handler: (call) => getTag(on, holder, ...target(call), call.params.key),
  });

  api.delete(`${url}/:key`, ...named('delete', 'ByKey', 'Delete a tag'), {
    ...changes,
    handler: (call) => removeTag(on, holder, ...target(call), call.params.key),
  });
}
