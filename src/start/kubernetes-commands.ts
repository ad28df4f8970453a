import path from 'node:path';
import { type Document, isMap, isPair, isScalar } from 'yaml';
import * as kubernetes from '../../kubernetes/index.ts';
import { type Catalog, loadCatalog, type Region } from '../cloud/ground/catalog/service.ts';
import type { Config } from '../config.ts';
import { OperatorError } from '../lib/errors.ts';
import {
  asText,
  backendsDocument,
  checkedDraft,
  documentOf,
  type Files,
  loadChecked,
  NOTHING_CHANGED,
  writeAndApply,
} from './catalog-files.ts';
import type { Command } from './command.ts';
import { MAKERS } from './from-settings.ts';

/** Kinds that need no settings, so that they can be added. */
const ADDABLE = ['hosted', 'simulated'];

const ABOUT: Record<string, string> = {
  hosted: 'real control planes on this machine, with simulated nodes',
  simulated: 'nothing real runs',
  'cluster-api': 'real machines, which Cluster API makes',
};

export const regionUse: Command = {
  summary: 'choose what runs the Kubernetes clusters of a region: hosted, simulated or cluster-api',
  help: `  <backend>      hosted: real control planes on this machine, with simulated nodes; simulated; cluster-api; or the
                 name of a backend in backends.yaml. cluster-api has to be described there first
  --region ID    which region (default: the one with the lowest ID)
  Changes backends.yaml and regions.yaml in TRADEWIND_CATALOG_DIR and applies the catalogue, as "tradewind catalog apply"
  does. Refused while the region has clusters, which the other backend would not know.
`,
  argument: 'backend',
  options: { region: { type: 'string' } },
  json: true,
  async run(context) {
    const { config, options } = context;
    const before = await loadChecked(config);
    const region = regionOf(before, options.region);
    const { backend, files } = edited(before, config.catalogDir, { region, word: String(options.backend) });
    const versions = backend.kind === 'hosted' ? hostedVersions(backend.settings, before, config) : [];
    const catalog = await checkedDraft(config, files);
    return writeAndApply(context, files, catalog, ({ text, data }) => {
      const where = `${region.display_name} (region ${region.id})`;
      const lines = [
        `Clusters in ${where} are made by the backend ${backend.name}: ${ABOUT[backend.kind]}.`,
        ...versions,
        files.size === 0
          ? 'The files of the catalogue said so already.'
          : `Changed ${[...files.keys()].join(' and ')} in ${config.catalogDir}.`,
        text,
      ];
      return {
        text: lines.join('\n'),
        data: { region: region.id, backend: backend.name, files: [...files.keys()], ...data },
      };
    });
  },
};

function regionOf({ regions }: Catalog, id: string | boolean | undefined): Region {
  const ids = [...regions.keys()].sort((a, b) => a - b);
  const region = regions.get(id === undefined ? (ids[0] ?? 0) : Number(id));
  if (region) return region;
  throw new OperatorError(`There is no region ${id}. The catalogue has ${ids.join(', ')}. ${NOTHING_CHANGED}`);
}

interface Backend {
  name: string;
  kind: string;
  settings: object;
}

/** Returns the backend that the word means, and the files of the catalogue that have to be written. */
function edited(
  { backends }: Catalog,
  folder: string,
  { region, word }: { region: Region; word: string },
): { backend: Backend; files: Files } {
  const files = new Map<string, string>();
  const known = [...backends.values()];
  const ofKind = known.filter(({ kind }) => kind === word);
  const found =
    backends.get(word) ??
    ofKind.find(({ name }) => name === region.backend) ??
    (ofKind.length === 1 ? ofKind[0] : undefined);
  if (!found && ofKind.length > 1) {
    const names = ofKind.map(({ name }) => name).join(', ');
    throw new OperatorError(`There are several backends of the kind ${word}: name one of ${names}. ${NOTHING_CHANGED}`);
  }
  if (!found && !ADDABLE.includes(word)) throw new OperatorError(`${unknownWord(word, known)} ${NOTHING_CHANGED}`);
  const backend = found ?? { name: word, kind: word, settings: {} };
  if (!found) {
    const document = backendsDocument(folder);
    document.addIn(['backends'], document.createNode({ name: word, kind: word }, { flow: true }));
    files.set('backends.yaml', asText(document));
  }
  if ((region.backends?.kubernetes ?? region.backend) !== backend.name) {
    const document = documentOf(folder, 'regions.yaml');
    giveClusters(document, region, backend.name);
    files.set('regions.yaml', asText(document));
  }
  return { backend, files };
}

function unknownWord(word: string, known: readonly Backend[]): string {
  if (word === 'cluster-api')
    return 'A backend of the kind cluster-api needs settings, so add one to backends.yaml first, as docs/kubernetes.md shows.';
  const names = new Set([...Object.keys(MAKERS), ...known.map(({ name }) => name)]);
  return `There is no backend ${word}: name one of ${[...names].join(', ')}.`;
}

/** Names the backend in the entry of the region, beside the one for everything else. */
function giveClusters(document: Document, region: Region, name: string): void {
  const list = document.toJS().regions as { id: number }[];
  const at = ['regions', list.findIndex(({ id }) => id === region.id)];
  const own = [...at, 'backends'];
  if (name === region.backend) {
    document.deleteIn([...own, 'kubernetes']);
    const left = document.getIn(own);
    if (isMap(left) && left.items.length === 0) document.deleteIn(own);
  } else if (region.backends) document.setIn([...own, 'kubernetes'], name);
  else {
    const entry = document.getIn(at);
    if (!isMap(entry)) return;
    const after = entry.items.findIndex((pair) => isPair(pair) && isScalar(pair.key) && pair.key.value === 'backend');
    const value = document.createNode({ kubernetes: name }, { flow: true });
    entry.items.splice(after + 1, 0, document.createPair('backends', value));
  }
}

/** Returns what to say about the versions that are installed. @throws OperatorError naming what to install */
function hostedVersions(settings: object, { kubernetesVersions }: Catalog, config: Config): string[] {
  const lacking = kubernetes.missingOf(config.searchPath);
  if (lacking !== undefined)
    throw new OperatorError(`Control planes can't run on this machine: ${lacking}. ${NOTHING_CHANGED}`);
  const { programs = config.kubernetesDir } = settings as { programs?: string };
  const installed = kubernetes.installedVersions(programs);
  const offered = installed.filter((version) => kubernetesVersions.includes(version));
  if (installed.length === 0)
    throw new OperatorError(`${kubernetes.notInstalled(programs)} ${NOTHING_CHANGED}\n${kubernetes.ABOUT_KWOK}.`);
  if (offered.length === 0)
    throw new OperatorError(
      `Kubernetes ${installed.join(', ')} is installed in ${programs}, but the catalogue offers ${kubernetesVersions.join(', ')}: install one of these with "tradewind kubernetes install". ${NOTHING_CHANGED}`,
    );
  const bare = offered.filter((version) => !kubernetes.hasKwok(path.join(programs, version)));
  return [
    `The region now offers Kubernetes ${offered.join(', ')}.`,
    ...(bare.length > 0 ? [`Clusters of ${bare.join(', ')} get no nodes: ${kubernetes.ABOUT_KWOK}.`] : []),
  ];
}

export const kubernetesInstall: Command = {
  summary: 'install the programs of a version of Kubernetes for hosted clusters (300 MB)',
  help: `  --version v1.34.4   which one; without it, the command lists those of the catalogue
  --kwok FILE         a kwok on this machine
  --from WHERE        a folder, or the address of one, to take the programs from instead of their official releases:
                      with a folder for the version, such as v1.34.4, that has etcd, kube-apiserver,
                      kube-controller-manager, kube-scheduler, SHA256SUMS and perhaps kwok, as
                      TRADEWIND_KUBERNETES_DIR of another machine has it. Nothing else is fetched

${kubernetes.ABOUT_KWOK}.
`,
  options: { version: { type: 'string' }, kwok: { type: 'string' }, from: { type: 'string' } },
  async run({ config, options: { version, kwok, from }, stop }) {
    if (typeof version !== 'string' || !/^v\d+\.\d+\.\d+$/.test(version)) {
      const { kubernetesVersions } = await loadCatalog(config.catalogDir, MAKERS);
      throw new OperatorError(
        `Say which version, such as --version v1.34.4. The catalogue offers ${kubernetesVersions.join(', ')}; installed: ${kubernetes.installedVersions(config.kubernetesDir).join(', ') || 'none'}.`,
      );
    }
    const sources = {
      ...config.kubernetesSources,
      ...(typeof kwok === 'string' && { kwok }),
      ...(typeof from === 'string' && { from }),
    };
    const say = (line: string) => void process.stdout.write(`${line}\n`);
    try {
      await kubernetes.installVersion(version, config.kubernetesDir, sources, { say, signal: stop });
    } catch (error) {
      const { message, cause } = error as Error;
      const why = cause instanceof Error ? `${message}: ${cause.message}` : message;
      throw new OperatorError(`${why}. The next attempt goes on from here.`);
    }
    return 0;
  },
};
