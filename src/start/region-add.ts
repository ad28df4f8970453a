import * as openstack from '../../openstack/index.ts';
import { Refused, Unavailable } from '../backends/contract/backend.ts';
import { type Catalog, prefixOf } from '../cloud/ground/catalog/service.ts';
import { OperatorError } from '../lib/errors.ts';
import { readSecretFile } from '../lib/secret-file.ts';
import { VOLUME_TYPES } from '../lib/volume-types.ts';
import { createLog } from '../log.ts';
import { checkedDraft, type Files, loadChecked, NOTHING_CHANGED, writeAndApply } from './catalog-files.ts';
import type { Command, Options } from './command.ts';
import { filesWith, type NewRegion, type Outside, prefixIn, slugOf } from './new-region.ts';
import { type Answer, printAnswer } from './operator.ts';

export const regionAdd: Command = {
  summary: 'make a cloud that runs already a region: openstack',
  help: `  <kind>                   openstack
  --clouds FILE            a clouds.yaml, as OpenStack's own clients use it: its absolute path. Only this user may read it
                           (chmod 600), and it has to be there on each machine with a process of Tradewind
  --cloud NAME             which of its clouds (default: its only one). Everything is made in its project
  --name TEXT              what clients call the region
  --external-network NAME  name or ID of the network that public addresses come from (default: the only external one)
  --id ID                  of the region (default: the highest that is used, and one more)
  --dry-run                only say what would be written
  Looks at the services of the cloud, and finds our flavors, images and volume types in it. Makes and removes a network, a
  port and a volume of 1 GiB, all named tradewind-check, to see whether it may; a dry run doesn't. Then adds to
  backends.yaml, regions.yaml, flavors.yaml and images.yaml in TRADEWIND_CATALOG_DIR and applies the catalogue, as
  "tradewind catalog apply" does. The region offers what both have. If anything fails, the catalogue stays as it was.
`,
  argument: 'kind',
  options: {
    clouds: { type: 'string' },
    cloud: { type: 'string' },
    name: { type: 'string' },
    'external-network': { type: 'string' },
    id: { type: 'string' },
    'dry-run': { type: 'boolean' },
  },
  json: true,
  async run(context) {
    const { config, options, stop } = context;
    const asked = askedFor(options);
    const before = await loadChecked(config);
    const id = newId(before, options.id);
    const call = { log: createLog(config), signal: stop };
    const survey = await inCloud(() => surveyed(asked, before, call));
    refuseDoubles(before, asked.name, survey.region);
    const region: NewRegion = { ...survey.region, id, name: asked.name, slug: slugOf(asked.name, id) };
    const { backend, entries, files } = filesWith(config.catalogDir, before, region);
    const catalog = await checkedDraft(config, files);
    const told = { region, backend, files, found: survey };
    if (options['dry-run']) {
      printAnswer(answerOf({ ...told, wouldBe: entries, folder: config.catalogDir }), options);
      return 0;
    }
    const rights = { volumeType: region.fit.volumeTypes.found[0]?.theirs, externalNetworkId: region.outside.id };
    await inCloud(() => openstack.checkRights(survey.api, rights, stop));
    return writeAndApply(context, files, catalog, (applied) =>
      answerOf({ ...told, applied, folder: config.catalogDir }),
    );
  },
};

interface Asked {
  /** A file, and what is in it. */
  clouds: string;
  text: string;
  cloud: string | undefined;
  name: string;
  externalNetwork: string | undefined;
}

/** @throws OperatorError about the first option that can't be used */
function askedFor({ kind, clouds, cloud, name, 'external-network': network }: Options): Asked {
  if (kind !== 'openstack') throw refused(`A region of the kind ${kind} can't be added this way: only openstack can`);
  if (typeof clouds !== 'string' || !clouds.startsWith('/'))
    throw refused('Say where clouds.yaml is, with an absolute path: --clouds /etc/tradewind/clouds.yaml');
  if (typeof name !== 'string' || name.trim() === '')
    throw refused('Say what clients call the region, such as --name "Port Halden"');
  const read = readSecretFile(clouds);
  if ('problem' in read) throw refused(`${clouds} ${read.problem}`);
  const textOf = (option: string | boolean | undefined) => (typeof option === 'string' ? option : undefined);
  return { clouds, text: read.text, cloud: textOf(cloud), name: name.trim(), externalNetwork: textOf(network) };
}

const refused = (why: string): OperatorError => new OperatorError(`${why.replace(/\.$/, '')}. ${NOTHING_CHANGED}`);

function newId({ regions }: Catalog, given: string | boolean | undefined): number {
  if (given === undefined) return Math.max(0, ...regions.keys()) + 1;
  const id = Number(given);
  if (!/^[1-9]\d{0,8}$/.test(String(given))) throw refused(`--id is ${given}, but has to be a whole number from 1`);
  if (regions.has(id)) throw refused(`Region ${id} is there already: it is ${regions.get(id)?.display_name}`);
  return id;
}

/** Two backends in one project would take each other's things for what nobody wants. */
function refuseDoubles({ backends, regions }: Catalog, name: string, region: Survey['region']): void {
  for (const [other, { kind, secrets, settings }] of backends) {
    const { cloud = region.cloud } = settings as { cloud?: string };
    if (kind === 'openstack' && secrets.clouds === region.clouds && cloud === region.cloud)
      throw refused(`The backend ${other} has the cloud ${cloud} already: another region needs a project of its own`);
  }
  for (const { id, display_name, external_networks } of regions.values()) {
    if (display_name === name) throw refused(`Region ${id} is called ${name} already`);
    if (external_networks.some((network) => network.id === region.outside.id))
      throw refused(`Region ${id}, ${display_name}, has the external network ${region.outside.name} already`);
  }
}

/** Tells what a cloud says no to as what the operator has to settle. */
async function inCloud<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof Refused || error instanceof Unavailable)) throw error;
    throw refused(error.message);
  }
}

interface Survey {
  api: openstack.Api;
  authUrl: string;
  /** Services and their versions. */
  has: string;
  region: Pick<NewRegion, 'clouds' | 'cloud' | 'fit' | 'optional' | 'outside'>;
  /** What of the cloud is not offered, a sentence for each. */
  notes: string[];
}

async function surveyed(
  asked: Asked,
  catalog: Catalog,
  call: Parameters<typeof openstack.openCloud>[2],
): Promise<Survey> {
  const { api, name, authUrl } = opened(asked, call);
  const { optional, unused } = await usableIn(api);
  const { has, lacks } = await openstack.servicesOf(api, optional);
  if (lacks.length > 0) throw refused(`This cloud can't be a region: ${lacks.join('; ')}`);
  const inventory = await openstack.inventoryOf(api, optional);
  const fit = openstack.fitOf(wantedOf(catalog, optional), inventory);
  if (fit.volumeTypes.found.length === 0)
    throw refused(
      `The cloud has no volume type that is called as one of ours, and no default one: it has ${inventory.volumeTypes.join(', ')}. Ours are ${VOLUME_TYPES.join(', ')}; have one of these added in the cloud`,
    );
  const { outside, notes } = outsideOf(inventory.externalNetworks, asked.externalNetwork);
  return {
    api,
    authUrl,
    has,
    notes: [...notes, ...unused],
    region: { clouds: asked.clouds, cloud: name, fit, optional, outside },
  };
}

const MAKES: Record<openstack.Optional, string> = { barbican: 'secrets', octavia: 'load balancers' };

/** Returns which of the services that not every cloud has the region uses, and a sentence for each other one. */
async function usableIn(api: openstack.Api) {
  const names = Object.keys(openstack.OPTIONAL) as openstack.Optional[];
  const answers = await Promise.all(names.map(async (name) => ({ name, why: await openstack.whyUnusable(api, name) })));
  return {
    optional: answers.filter(({ why }) => why === undefined).map(({ name }) => name),
    unused: answers.flatMap(({ name, why }) =>
      why === undefined ? [] : [`The region makes no ${MAKES[name]}, for which it needs ${name}: ${why}.`],
    ),
  };
}

function opened({ clouds, text, cloud }: Asked, call: Parameters<typeof openstack.openCloud>[2]) {
  try {
    return openstack.openCloud(text, cloud, call);
  } catch (error) {
    throw refused(`${clouds}: ${(error as Error).message}`);
  }
}

const ORDINARY = 'standard';

/** Returns what instances can have in some region; bare metal and GPUs are no business of such a region. */
function wantedOf(catalog: Catalog, optional: readonly openstack.Optional[]): openstack.Wanted {
  const ids = [...catalog.regions.keys()];
  const flavors = new Map(ids.flatMap((id) => catalog.flavors(id)).map((one) => [one.flavor_id, one]));
  const balancing = [...flavors.values()].filter(
    ({ disabled, offered_for }) => !disabled && offered_for.includes('load_balancers'),
  );
  const images = new Map(ids.flatMap((id) => catalog.images(id)).map((one) => [one.id, one]));
  return {
    flavors: [...flavors.values()]
      .filter((one) => !one.disabled && one.resource_class === null && one.offered_for.includes('instances'))
      .map(({ flavor_id, vcpus, ram }) => ({ id: flavor_id, vcpus, ram })),
    images: [...images.values()]
      .filter((one) => !one.is_baremetal && one.gpu_driver === null)
      .map(({ id, name, os_distro, os_version, architecture }) => ({
        ...{ id, name, architecture },
        ...{ osDistro: os_distro, osVersion: os_version },
      })),
    loadBalancerFlavors: optional.includes('octavia') ? balancing.map(({ flavor_id }) => flavor_id) : [],
    // A new volume is of the first one, if nobody says which.
    volumeTypes: VOLUME_TYPES.toSorted((one, other) => Number(other === ORDINARY) - Number(one === ORDINARY)),
  };
}

function outsideOf(all: openstack.CloudNetwork[], asked: string | undefined): { outside: Outside; notes: string[] } {
  const fitting = all.filter(({ id, name }) => asked === undefined || [id, name].includes(asked));
  const [network] = fitting;
  const names = all.map(({ id, name }) => `${name} (${id})`).join(', ') || 'none';
  if (!network)
    throw refused(
      asked === undefined
        ? 'The project sees no external network, which public addresses come from'
        : `The project sees no external network ${asked}: it sees ${names}`,
    );
  if (fitting.length > 1) throw refused(`Name one of the external networks with --external-network: ${names}`);
  if (network.subnets.length === 0)
    throw refused(
      `The credentials see no subnet of the external network ${network.name}: it has none, or they lack the right to see it, which by default only administrators of a cloud have`,
    );
  const parts = network.subnets.map((subnet) => ({ subnet, prefix: prefixIn(subnet) }));
  const problemOf = (prefix: (typeof parts)[number]['prefix']) => {
    if (!prefix)
      return "Neutron's allocation pools have all of them. Make these smaller, so that a range is left which nobody else gives out.";
    const found = prefixOf(prefix, () => 0);
    return 'message' in found ? `its ${found.field} ${found.message}` : undefined;
  };
  const prefixes = parts.flatMap(({ prefix }) => (prefix && problemOf(prefix) === undefined ? [prefix] : []));
  const notes = parts.flatMap(({ subnet, prefix }) => {
    const problem = problemOf(prefix);
    if (problem !== undefined) return [`The region gives no addresses of the subnet ${subnet.cidr}: ${problem}`];
    return [
      `Of the subnet ${subnet.cidr} the region gives the addresses from ${prefix?.first} to ${prefix?.last}, which no allocation pool has.`,
    ];
  });
  if (prefixes.length === 0)
    throw refused([`The external network ${network.name} has no subnet with addresses to give.`, ...notes].join(' '));
  return { outside: { id: network.id, name: network.name, prefixes }, notes };
}

interface Told {
  region: NewRegion;
  backend: string;
  files: Files;
  found: Survey;
  folder: string;
  /** The new entries, for a dry run. */
  wouldBe?: string;
  applied?: Answer & { data: object };
}

function answerOf({ region, backend, files, found, folder, wouldBe, applied }: Told): Answer {
  const { fit, outside } = region;
  const names = [...files.keys()].join(', ').replace(/, ([^,]*)$/, ' and $1');
  const lines = [
    `The cloud ${region.cloud} at ${found.authUrl} has ${found.has}.`,
    ...(wouldBe === undefined
      ? ['The credentials may make networks, ports and volumes, and choose floating addresses.']
      : []),
    ...foundLines('Flavors', fit.flavors),
    ...foundLines('Images', fit.images),
    ...foundLines('Volume types', fit.volumeTypes),
    ...(region.optional.includes('octavia') ? foundLines('Load balancers', fit.loadBalancerFlavors) : []),
    `Public addresses: ${outside.prefixes.map(({ cidr }) => cidr).join(', ')}, of the network ${outside.name}.`,
    ...found.notes,
    ...(wouldBe === undefined
      ? [`Region ${region.id}, ${region.name}, is made by the backend ${backend}. Changed ${names} in ${folder}.`]
      : [
          `This would change ${names} in ${folder}. Nothing was written or made; the rights in Neutron and Cinder were not tried.`,
          wouldBe,
        ]),
    ...(applied ? [applied.text] : []),
    `Yours to add: country (ZZ is none), zone and coordinates of the region in regions.yaml, and its prices in price-book.yaml.`,
  ];
  const data = {
    ...{ region: region.id, backend, files: [...files.keys()], dry_run: wouldBe !== undefined },
    services: found.has,
    flavors: fit.flavors,
    images: fit.images,
    volume_types: fit.volumeTypes,
    load_balancer_flavors: fit.loadBalancerFlavors,
    external_network: outside,
    notes: found.notes,
    ...applied?.data,
  };
  return { text: lines.join('\n'), data };
}

const HOW: Record<openstack.Found['by'], string> = {
  ID: '',
  name: '',
  size: ', of the same size',
  distribution: ', of the same distribution',
  default: ', its default',
};

function foundLines(what: string, { found, without }: openstack.Fit['flavors']): string[] {
  const texts = found.map(({ id, theirs, name, by }) =>
    id === theirs ? (name === id ? id : name) : `${what === 'Images' ? '' : `${id} is `}${name}${HOW[by]}`,
  );
  return [
    `${what}: ${texts.join('; ') || 'none'}.`,
    ...(without.length === 0 ? [] : [`  Not in the cloud, so not offered in the region: ${without.join(', ')}.`]),
  ];
}
