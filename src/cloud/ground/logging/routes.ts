import type { Dialect } from '../../../http/dialect.ts';
import { operations } from '../../../http/operations.ts';
import type { Api } from '../../../http/server.ts';
import { presentedPage } from '../../../lib/page.ts';
import { ProjectRegionParams } from '../../../lib/wire.ts';
import type { Platform } from '../../../platform.ts';
import * as schema from './schema.ts';
import * as logging from './service.ts';
import type { TopicRow } from './store.ts';

export function presentedTopic(row: TopicRow): schema.TopicAnswer {
  return {
    name: row.name,
    retention_policy: row.retention_days === null ? null : { period: row.retention_days },
    index_pattern: row.index_pattern_id === null ? null : { id: row.index_pattern_id },
    size_in_bytes: row.size_in_bytes,
  };
}

const LAAS = '/cloud/v1/laas/:project_id/:region_id';
const tags = ['Logging'];

/** Routes for the logging of projects. Regions without logging refuse with 400. */
export function loggingRoutes(app: Api, dialect: Dialect, on: Platform): void {
  // The older Terraform provider has topics, but nothing that initialises logging.
  const begins = dialect.legacy;
  const api = operations(app, { tags, params: ProjectRegionParams });

  api.get(`${LAAS}/status`, 'getLoggingStatus', 'Get the logging status of a project', {
    answer: schema.LoggingStatus,
    handler: ({ scope }) => logging.getLoggingStatus(on, scope),
  });

  api.patch(`${LAAS}/status`, 'updateLoggingStatus', 'Enable or disable logging for a project', {
    description: 'Logging can only be disabled when the project has no topics.',
    body: schema.UpdateLoggingStatus,
    answer: schema.LoggingStatus,
    handler: ({ scope, body }) => logging.setLoggingStatus(on, scope, body),
  });

  api.get(
    '/cloud/v1/laas/namespaces/:project_id/:region_id/:namespace_name',
    'checkLoggingNamespace',
    'Check whether a namespace is available',
    {
      description:
        'A namespace that the project has by now is available to it. Returns 400 for a text that can never be one.',
      params: schema.NamespaceParams,
      answer: schema.NamespaceAvailability,
      handler: async ({ scope, params: { namespace_name: namespace } }) => ({
        namespace,
        available: await logging.isLoggingAvailable(on, scope, namespace),
      }),
    },
  );

  api.get(`${LAAS}/topics`, 'listLogTopics', 'List log topics', {
    description: 'Sorted by name. Includes topics that the logging of clusters created.',
    query: schema.TopicListQuery,
    answer: schema.TopicList,
    handler: async ({ scope, query }) => presentedPage(await logging.listLogTopics(on, scope, query), presentedTopic),
  });

  api.put(`${LAAS}/topics`, 'putLogTopic', 'Create or replace a log topic', {
    description: `Replaces an existing topic of that name. ${begins ? 'Initialises logging if necessary.' : 'Returns 409 if logging is not initialised.'}`,
    body: schema.PutTopic,
    status: 201,
    answer: schema.TopicAnswer,
    handler: async ({ scope, body }) => presentedTopic(await logging.putLogTopic(on, scope, body, { begins })),
  });

  api.delete(`${LAAS}/topics/:topic_name`, 'deleteLogTopic', 'Delete a log topic', {
    description: 'Deletes the topic and its logs. Returns 409 while a cluster sends its logs to the topic.',
    params: schema.TopicParams,
    handler: ({ scope, params }) => logging.deleteLogTopic(on, scope, params.topic_name),
  });

  api.post(`${LAAS}/users`, 'createLoggingUser', 'Generate a password for the log brokers', {
    secretAnswer: true,
    description:
      'A project has a single user for the log brokers. The new password replaces the old one. Returns 409 if logging is not initialised.',
    answer: schema.LoggingUser,
    handler: ({ scope }) => logging.renewLoggingPassword(on, scope),
  });
}
