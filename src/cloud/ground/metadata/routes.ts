import { operations } from '../../../http/operations.ts';
import type { Api } from '../../../http/server.ts';
import { TagAnswer } from '../../../lib/resource-fields.ts';
import { RESOURCES, type Tagged } from '../../../lib/resources.ts';
import { TagsInput } from '../../../lib/tags.ts';
import type { Versioned } from '../../../lib/versioned.ts';
import type { Platform, Scope } from '../../../platform.ts';
import { KeyQuery, type ResourcePath, resourceParams, TagList } from './schema.ts';
import { addTags, getTag, listTags, removeTag, replaceTags, type TagHolder } from './service.ts';

/** A second path to the same tags. */
interface Second {
  /** Of the path, such as `v2`; the end of the operation IDs in capitals. */
  version: string;
  /** What the tags are a part of, where the path itself doesn't say it. */
  versioned: Versioned;
}

function addressed(type: Tagged, second?: Second) {
  const { one, many, word, paths: [path] = [], params: [param = ''] = [], tags } = RESOURCES[type];
  const name = word.replaceAll(/(?:^|_)(\w)/g, (_all, first: string) => first.toUpperCase());
  return {
    url: `/cloud/${second?.version ?? 'v1'}/${path}/:project_id/:region_id/:${param}/metadata`,
    params: resourceParams(param),
    group: tags?.group ?? many.charAt(0).toUpperCase() + many.slice(1),
    changes: second && { versioned: second.versioned },
    /** Operation ID and summary. */
    named: (verb: string, rest: string, summary: string) =>
      [`${verb}${name}Metadata${rest}${second?.version.toUpperCase() ?? ''}`, `${summary} of ${one}`] as const,
    target: ({ scope, params }: { scope: Scope; params: ResourcePath }) => [scope, String(params[param])] as const,
  };
}

/**
 * Routes for tags as resources, all at once or one by one: an older way to change them than updating the resource.
 * `holder` reads and changes them.
 */
export function tagRoutes(app: Api, on: Platform, type: Tagged, holder: TagHolder, second?: Second): void {
  const { url, params, group, changes, named, target } = addressed(type, second);
  const api = operations(app, { tags: [group], params: params.resource, deprecated: true });

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
export function tagByKeyRoutes(app: Api, on: Platform, type: Tagged, holder: TagHolder): void {
  const { url, params, group, changes, named, target } = addressed(type);
  const api = operations(app, { tags: [group], params: params.tag, deprecated: true });

  api.get(`${url}/:key`, ...named('get', 'ByKey', 'Get a tag'), {
    answer: TagAnswer,
    handler: (call) => getTag(on, holder, ...target(call), call.params.key),
  });

  api.delete(`${url}/:key`, ...named('delete', 'ByKey', 'Delete a tag'), {
    ...changes,
    handler: (call) => removeTag(on, holder, ...target(call), call.params.key),
  });
}
