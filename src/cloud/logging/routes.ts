import { Type } from 'typebox';
import type { Api } from '../../http/server.ts';
import { presentedPage } from '../../lib/page.ts';
import { ProjectRegionParams } from '../../lib/wire.ts';
import { presentedTopic } from './presenter.ts';
import {
  LoggingStatus,
  LoggingUser,
  PutTopic,
  TopicAnswer,
  TopicList,
  TopicListQuery,
  TopicParams,
  UpdateLoggingStatus,
} from './schema.ts';
import type { Logging } from './service.ts';

const LAAS = '/cloud/v1/laas/:project_id/:region_id';
const tags = ['Logging'];

/** Routes for the logging of projects. Regions without logging refuse with 400. */
export function loggingRoutes(app: Api, { logging }: { logging: Logging }): void {
  app.get(`${LAAS}/status`, {
    config: { access: 'read' },
    schema: {
      operationId: 'getLoggingStatus',
      summary: 'Get whether a project uses logging',
      tags,
      params: ProjectRegionParams,
      response: { 200: LoggingStatus },
    },
    handler: async ({ scope }) => logging.status(scope),
  });

  app.patch(`${LAAS}/status`, {
    config: { access: 'operate' },
    schema: {
      operationId: 'updateLoggingStatus',
      summary: 'Begin or end logging of a project',
      description: 'It can end when no topic is left.',
      tags,
      params: ProjectRegionParams,
      body: UpdateLoggingStatus,
      response: { 200: LoggingStatus },
    },
    handler: async ({ scope, body }) => logging.setStatus(scope, body),
  });

  app.get(`${LAAS}/topics`, {
    config: { access: 'read' },
    schema: {
      operationId: 'listLogTopics',
      summary: 'List log topics',
      description: 'By name; with those that the logging of clusters made.',
      tags,
      params: ProjectRegionParams,
      querystring: TopicListQuery,
      response: { 200: TopicList },
    },
    handler: async ({ scope, query }) => presentedPage(await logging.topics(scope, query), presentedTopic),
  });

  app.put(`${LAAS}/topics`, {
    config: { access: 'operate' },
    schema: {
      operationId: 'putLogTopic',
      summary: 'Create or replace a log topic',
      description: 'A topic of that name becomes what is given. 409 while logging is not initialised.',
      tags,
      params: ProjectRegionParams,
      body: PutTopic,
      response: { 201: TopicAnswer },
    },
    handler: async ({ scope, body }, reply) =>
      reply.code(201).send(presentedTopic(await logging.putTopic(scope, body))),
  });

  app.delete(`${LAAS}/topics/:topic_name`, {
    config: { access: 'operate' },
    schema: {
      operationId: 'deleteLogTopic',
      summary: 'Delete a log topic',
      description: 'With its logs. 409 while a cluster logs into it.',
      tags,
      params: TopicParams,
      response: { 204: Type.Null() },
    },
    handler: async ({ scope, params }, reply) => {
      await logging.deleteTopic(scope, params.topic_name);
      return reply.code(204).send(null);
    },
  });

  app.post(`${LAAS}/users`, {
    config: { access: 'operate', secretAnswer: true },
    schema: {
      operationId: 'createLoggingUser',
      summary: 'Get a password for the log brokers',
      description:
        'Of the one user that the project has there. An older password no longer lets in. 409 while logging is not initialised.',
      tags,
      params: ProjectRegionParams,
      response: { 200: LoggingUser },
    },
    handler: async ({ scope }) => logging.newPassword(scope),
  });
}
