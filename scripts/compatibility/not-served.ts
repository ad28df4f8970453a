import fs from 'node:fs';
import path from 'node:path';

/** What the official Python SDK calls: methods by path. `npm run clients` writes it. */
export const SDK_OPERATIONS_FILE = path.join(import.meta.dirname, 'sdk-operations.json');

const P = '{project_id}/{region_id}';
const PRICING = `/cloud/v1/pricing/${P}`;
const PRICING_V2 = `/cloud/v2/pricing/${P}`;
const GPU = `${PRICING_V2}/gpu`;

/** Published operations that the SDK has no method for and that were not served when this was written. */
const WITHOUT_METHOD: Record<string, string> = {
  [`/cloud/v1/apptemplates/${P}`]: 'GET',
  [`/cloud/v1/apptemplates/${P}/{apptemplate_id}`]: 'GET',
  [`${PRICING}/ai/clusters`]: 'POST',
  [`${PRICING}/ai/clusters/{server_id}`]: 'GET',
  [`${PRICING}/caas`]: 'POST',
  [`${PRICING}/faas/functions`]: 'POST',
  [`${PRICING}/lifecycle_policy`]: 'POST',
  '/cloud/v2/pricing/inference/applications': 'POST',
  '/cloud/v2/pricing/inference/deployments': 'POST',
  [`${GPU}/baremetal/clusters`]: 'POST',
  [`${GPU}/baremetal/clusters/{cluster_id}`]: 'GET',
  [`${GPU}/baremetal/clusters/{cluster_id}/servers/{server_id}`]: 'GET',
  [`${GPU}/virtual/clusters`]: 'POST',
  [`${GPU}/virtual/clusters/{cluster_id}`]: 'GET',
  [`${GPU}/virtual/clusters/{cluster_id}/servers/{server_id}`]: 'GET',
  [`${PRICING_V2}/lifecycle_policy`]: 'POST',
  '/iam/docs/platform/resellers': 'GET',
  '/iam/reselling/settings': 'GET PUT',
  '/iam/reselling/settings/upload': 'POST',
};

interface Call {
  method: string;
  url: string;
}

/** Paths with the same beginning. */
interface Family {
  beginning: string;
  served: number;
  /** Calls such as `GET /cdn/resources` that are 404. */
  missing: string[];
}

/**
 * Returns the families of which something isn't served, by path. `published` is what the tables of served families
 * have.
 */
export function familiesNotServed(
  published: readonly Call[],
  isServed: (method: string, url: string) => boolean,
): Family[] {
  const sdk: Record<string, string> = JSON.parse(fs.readFileSync(SDK_OPERATIONS_FILE, 'utf8'));
  const others = Object.entries({ ...sdk, ...WITHOUT_METHOD }).flatMap(([url, methods]) =>
    methods.split(' ').map((method) => ({ method, url })),
  );
  // The names of parameters differ.
  const known = new Map(
    [...others, ...published].map((call) => [`${call.method} ${call.url.replace(/\{[^}]+\}/g, '{}')}`, call]),
  );
  const families = new Map<string, Family>();
  for (const { method, url } of known.values()) {
    const beginning = beginningOf(url);
    const family = families.get(beginning) ?? { beginning, served: 0, missing: [] };
    families.set(beginning, family);
    if (isServed(method, url)) family.served += 1;
    else family.missing.push(`${method} ${url}`);
  }
  return [...families.values()]
    .filter(({ missing }) => missing.length > 0)
    .toSorted((a, b) => a.beginning.localeCompare(b.beginning));
}

/** `/cloud/v1/volumes`, `/cdn/resources`: the area, the version if there is one, and a word. */
function beginningOf(url: string): string {
  const words = url.slice(1).split('/');
  const end = /^v\d+$/.test(words[1] ?? '') ? 3 : 2;
  return `/${words.slice(0, end).join('/')}`;
}
