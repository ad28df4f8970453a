import { Refused, Unavailable, Unsupported } from '../../src/backends/contract/backend.ts';
import type { KubernetesObject } from '../rendering/objects.ts';
import { ApiError, type LiveObject } from './client.ts';
import { titleOf } from './rollout.ts';

const CONFLICT = 409;
const NO_SUCH_KIND = /could not find the requested resource/;

/** Says what becomes of a refusal: whether another attempt can succeed, and why not. */
export function explained(error: unknown, object: KubernetesObject): unknown {
  if (!(error instanceof ApiError)) return error;
  const { code, reason, message } = error;
  const title = titleOf(object as LiveObject);
  if (code === 404 && (reason !== 'NotFound' || NO_SUCH_KIND.test(message))) {
    return new Unsupported(
      `The cluster has no ${object.kind} (${object.apiVersion}); install the operator that brings it`,
    );
  }
  const passing = code === CONFLICT || /being terminated/.test(message);
  if (passing || (code === 404 && object.kind !== 'Namespace')) return new Unavailable(`${title}: ${message}`);
  return new Refused(`The cluster refuses ${title}: ${message}`);
}

/** For removals: lets pass that the object is gone already. */
export const unlessGone = (object: KubernetesObject) => (error: unknown) => {
  if (!(error instanceof ApiError) || error.code !== 404) throw explained(error, object);
};
