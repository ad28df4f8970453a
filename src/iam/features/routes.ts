import { FeatureAnswer, FeatureArray, presentFeature } from '../../cloud/ground/catalog/schema.ts';
import { operations } from '../../http/operations.ts';
import type { Api } from '../../http/server.ts';
import { NotFoundError } from '../../lib/errors.ts';
import type { Platform } from '../../platform.ts';
import * as service from './service.ts';

const tags = ['Features'];

export function featureRoutes(app: Api, on: Platform): void {
  const api = operations(app, { tags, access: 'resell' });

  api.get('/iam/admin/feature', 'listFeatures', 'List all features, paid and free', {
    description:
      'Speech transcription opens AI tasks that transcribe, Content moderation those that moderate, unless the operator of the platform offers other features.',
    answer: FeatureArray,
    handler: async () => [...on.catalog.features.values()].map(presentFeature),
  });

  api.get('/iam/admin/feature/:featureId', 'getFeature', 'Get a feature', {
    params: service.FeatureParams,
    answer: FeatureAnswer,
    handler: async ({ params }) => {
      const feature = on.catalog.features.get(params.featureId);
      if (!feature) throw new NotFoundError('Feature', params.featureId);
      return presentFeature(feature);
    },
  });

  activationRoutes(app, on, 'paid');
  activationRoutes(app, on, 'free');
}

function activationRoutes(app: Api, on: Platform, kind: service.FeatureKind): void {
  const base = `/iam/admin/${kind}_features`;
  const named = kind === 'paid' ? 'PaidFeature' : 'FreeFeature';

  const api = operations(app, { tags, access: 'resell' });

  api.get(base, `list${named}s`, `List activated ${kind} features`, {
    description: "Of all clients of the caller's reseller, in the order of their activation.",
    answer: service.FeatureActivationArray,
    handler: ({ principal }) => service.listFeatures(on, principal, kind),
  });

  api.post(base, `activate${named}`, `Activate a ${kind} feature for a client`, {
    description:
      'The client may do at once what the feature opens. A client that is being deleted gets no more features (409).',
    body: service.ActivateFeature,
    status: 201,
    answer: service.FeatureActivation,
    handler: async ({ principal, body }) => await service.activateFeature(on, principal, kind, body),
  });

  api.get(`${base}/:activatedFeatureId`, `get${named}`, `Get an activated ${kind} feature`, {
    params: service.ActivationParams,
    answer: service.FeatureActivation,
    handler: ({ principal, params }) => service.getFeature(on, principal, kind, params.activatedFeatureId),
  });

  api.delete(`${base}/:activatedFeatureId`, `deactivate${named}`, `Deactivate a ${kind} feature of a client`, {
    description: 'From now on, what the feature opened is refused with 422. AI tasks that were accepted go on.',
    params: service.ActivationParams,
    handler: ({ principal, params }) => service.deactivateFeature(on, principal, kind, params.activatedFeatureId),
  });
}
