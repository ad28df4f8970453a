import { Type } from 'typebox';
import { FeatureAnswer, FeatureArray, presentFeature } from '../../cloud/ground/catalog/feature-schema.ts';
import type { Api } from '../../http/server.ts';
import { NotFoundError } from '../../lib/errors.ts';
import type { Platform } from '../../platform.ts';
import {
  ActivateFeature,
  ActivationParams,
  FeatureActivation,
  FeatureActivationArray,
  FeatureParams,
} from './schema.ts';
import type { FeatureKind } from './service.ts';
import { activateFeature, deactivateFeature, getFeature, listFeatures } from './service.ts';

const tags = ['Features'];

export function featureRoutes(app: Api, on: Platform): void {
  app.get('/iam/admin/feature', {
    config: { access: 'resell' },
    schema: {
      operationId: 'listFeatures',
      summary: 'List all features, paid and free',
      description:
        'Speech transcription opens AI tasks that transcribe, Content moderation those that moderate, unless the operator of the platform offers other features.',
      tags,
      response: { 200: FeatureArray },
    },
    handler: async () => [...on.catalog.features.values()].map(presentFeature),
  });

  app.get('/iam/admin/feature/:featureId', {
    config: { access: 'resell' },
    schema: {
      operationId: 'getFeature',
      summary: 'Get a feature',
      tags,
      params: FeatureParams,
      response: { 200: FeatureAnswer },
    },
    handler: async ({ params }) => {
      const feature = on.catalog.features.get(params.featureId);
      if (!feature) throw new NotFoundError('Feature', params.featureId);
      return presentFeature(feature);
    },
  });

  activationRoutes(app, on, 'paid');
  activationRoutes(app, on, 'free');
}

function activationRoutes(app: Api, on: Platform, kind: FeatureKind): void {
  const base = `/iam/admin/${kind}_features`;
  const named = kind === 'paid' ? 'PaidFeature' : 'FreeFeature';

  app.get(base, {
    config: { access: 'resell' },
    schema: {
      operationId: `list${named}s`,
      summary: `List activated ${kind} features`,
      description: "Of all clients of the caller's reseller, in the order of their activation.",
      tags,
      response: { 200: FeatureActivationArray },
    },
    handler: ({ principal }) => listFeatures(on, principal, kind),
  });

  app.post(base, {
    config: { access: 'resell' },
    schema: {
      operationId: `activate${named}`,
      summary: `Activate a ${kind} feature for a client`,
      description:
        'The client may do at once what the feature opens. A client that is being deleted gets no more features (409).',
      tags,
      body: ActivateFeature,
      response: { 201: FeatureActivation },
    },
    handler: async ({ principal, body }, reply) =>
      reply.code(201).send(await activateFeature(on, principal, kind, body)),
  });

  app.get(`${base}/:activatedFeatureId`, {
    config: { access: 'resell' },
    schema: {
      operationId: `get${named}`,
      summary: `Get an activated ${kind} feature`,
      tags,
      params: ActivationParams,
      response: { 200: FeatureActivation },
    },
    handler: ({ principal, params }) => getFeature(on, principal, kind, params.activatedFeatureId),
  });

  app.delete(`${base}/:activatedFeatureId`, {
    config: { access: 'resell' },
    schema: {
      operationId: `deactivate${named}`,
      summary: `Deactivate a ${kind} feature of a client`,
      description:
        'From now on, what the feature opened is refused with 422. AI tasks that were accepted go on.',
      tags,
      params: ActivationParams,
      response: { 204: Type.Null() },
    },
    handler: async ({ principal, params }, reply) => {
      await deactivateFeature(on, principal, kind, params.activatedFeatureId);
      return reply.code(204).send(null);
    },
  });
}
