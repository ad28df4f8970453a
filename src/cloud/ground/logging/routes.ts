import { Type } from 'typebox';
import type { Dialect } from '../../../http/dialect.ts';
import type { Api } from '../../../http/server.ts';
import { presentedPage } from '../../../lib/page.ts';
import { ProjectRegionParams } from '../../../lib/wire.ts';
import type { Platform } from '../../../platform.ts';
import { presentedTopic } from './presenter.ts';
import {
  LoggingStatus,
  LoggingUser,
  NamespaceAvailability,
  NamespaceParams,
  PutTopic,
  TopicAnswer,
  TopicList,
  TopicListQuery,
  TopicParams,
  UpdateLoggingStatus,
} from './schema.ts';
import {
  deleteLogTopic,
  getLoggingStatus,
  isLoggingAvailable,
  listLogTopics,
  putLogTopic,
  renewLoggingPassword,
  setLoggingStatus,
} from './service.ts';

const LAAS = '/cloud/v1/laas/:project_id/:region_id';
const tags = ['Logging'];

/** Routes for the logging of projects. Regions without logging refuse with 400. */
export function loggingRoutes(app: Api, dialect: Dialect, on: Platform): void {
  // The older Terraform provider has topics, but nothing that initialises logging.
  const begins = dialect.legacy;
  app.get(`${LAAS}/status`, {
    config: { access: 'read' },
    schema: {
      operationId: 'getLoggingStatus',
      summary: 'Get the logging status of a project',
      tags,
      params: ProjectRegionParams,
      response: { 200: LoggingStatus },
    },
    handler: async ({ scope }) => getLoggingStatus(on, scope),
  });

  app.patch(`${LAAS}/status`, {
    config: { access: 'operate' },
    schema: {
      operationId: 'updateLoggingStatus',
      summary: 'Enable or disable logging for a project',
      description: 'Logging can only be disabled when the project has no topics.',
      tags,
      params: ProjectRegionParams,
      body: UpdateLoggingStatus,
      response: { 200: LoggingStatus },
    },
    handler: async ({ scope, body }) => setLoggingStatus(on, scope, body),
  });

  app.get('/cloud/v1/laas/namespaces/:project_id/:region_id/:namespace_name', {
    config: { access: 'read' },
    schema: {
      operationId: 'checkLoggingNamespace',
      summary: 'Check whether a namespace is available',
      description:
        'A namespace that the project has by now is available to it. Returns 400 for a text that can never be one.',
      tags,
      params: NamespaceParams,
      response: { 200: NamespaceAvailability },
    },
    handler: async ({ scope, params: { namespace_name: namespace } }) => ({
      namespace,
      available: await isLoggingAvailable(on, scope, namespace),
    }),
  });

  app.get(`${LAAS}/topics`, {
    config: { access: 'read' },
    schema: {
      operationId: 'listLogTopics',
      summary: 'List log topics',
      description: 'Sorted by name. Includes topics that the logging of clusters created.',
      tags,
      params: ProjectRegionParams,
      querystring: TopicListQuery,
      response: { 200: TopicList },
    },
    handler: async ({ scope, query }) => presentedPage(await listLogTopics(on, scope, query), presentedTopic),
  });

  app.put(`${LAAS}/topics`, {
    config: { access: 'operate' },
    schema: {
      operationId: 'putLogTopic',
      summary: 'Create or replace a log topic',
      description: `Replaces an existing topic of that name. ${begins ? 'Initialises logging if necessary.' : 'Returns 409 if logging is not initialised.'}`,
      tags,
      params: ProjectRegionParams,
      body: PutTopic,
      response: { 201: TopicAnswer },
    },
    handler: async ({ scope, body }, reply) =>
      reply.code(201).send(presentedTopic(await putLogTopic(on, scope, body, { begins }))),
  });

  app.delete(`${LAAS}/topics/:topic_name`, {
    config: { access: 'operate' },
    schema: {
      operationId: 'deleteLogTopic',
      summary: 'Delete a log topic',
      description: 'Deletes the topic and its logs. Returns 409 while a cluster sends its logs to the topic.',
      tags,
      params: TopicParams,
      response: { 204: Type.Null() },
    },
    handler: async ({ scope, params }, reply) => {
      await deleteLogTopic(on, scope, params.topic_name);
      return reply.code(204).send(null);
    },
  });

  app.post(`${LAAS}/users`, {
    config: { access: 'operate', secretAnswer: true },
    schema: {
      operationId: 'createLoggingUser',
      summary: 'Generate a password for the log brokers',
      description:
        'A project has a single user for the log brokers. The new password replaces the old one. Returns 409 if logging is not initialised.',
      tags,
      params: ProjectRegionParams,
      response: { 200: LoggingUser },
    },
    handler: async ({ scope }) => renewLoggingPassword(on, scope),
  });
}
