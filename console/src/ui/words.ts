import { queries } from '../lib/api.ts';
import { isObject } from '../lib/changes.ts';
import { type Difference, isEmpty, isSaid, MADE } from '../lib/dry-run.ts';
import { exactly, timeOf } from './time.tsx';

/** Words that aren't written in small letters, and those that people don't say. */
const SPELLED = new Map([
  ...'API CIDR CNI CPU CSI DDN DDoS DNS GPU HTTP ID IDs IP IPs IPv4 IPv6 IOPS MAC MTU NFS OIDC OS RAM SSH TCP TLS UDP URL URLs VAST VAT vCPUs VIP VM'
    .split(' ')
    .map((word) => [word.toLowerCase(), word] as const),
  ['max', 'maximum'],
  ['mbps', 'MB/s'],
  ['min', 'minimum'],
  ['keypair', 'SSH key'],
  ['servergroup', 'placement group'],
]);
const capital = (text: string): string => text.replace(/^[a-z](?!CPU)/, (letter) => letter.toUpperCase());

/** A name of the API, such as `node_count`, in plain words. Those with other signs are names that people know so, such as `scan-interval`. */
const plain = (name: string): string =>
  /^\w+$/.test(name)
    ? name
        .replace(/^is_/, '')
        .split('_')
        .map((word) => SPELLED.get(word.toLowerCase()) ?? word)
        .join(' ')
    : name;

/** Fields whose keys people choose. */
const CHOSEN = /^(metadata|tags|labels|taints|crio_config|kubelet_config|required_claims)$/;

const oneOf = (many: string): string =>
  many
    .replace(/ies$/, 'y')
    .replace(/(ss|x|ch)es$/, '$1')
    .replace(/([^s])s$/, '$1');

/** Where a value is, in plain words: `pools.0.node_count` is "Pool 1, node count". */
export function wordsOf(path: readonly string[]): string {
  const words: string[] = [];
  for (const [at, name] of path.entries()) {
    const list = words.at(-1);
    if (list !== undefined && /^(\d+|-)$/.test(name))
      words[words.length - 1] = name === '-' ? `new ${oneOf(list)}` : `${oneOf(list)} ${Number(name) + 1}`;
    else words.push(CHOSEN.test(path[at - 1] ?? '') ? name : plain(name));
  }
  return capital(words.join(', '));
}

const ID = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/;
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:?\d\d)?$/;
/** What things are known by, the best first. */
const NAMES = ['name', 'flavor_name', 'flavor_id', 'email', 'ip_address', 'addr'];

/** What a thing is called that a list of this page has. */
function nameOf(id: unknown): string | undefined {
  if (typeof id !== 'string' && typeof id !== 'number') return undefined;
  for (const [, data] of queries.getQueriesData<{ results?: unknown }>({})) {
    const rows: unknown[] = Array.isArray(data?.results) ? data.results : [];
    const found = rows.find((row) => isObject(row) && row.id === id);
    if (isObject(found) && typeof found.name === 'string' && found.name !== '') return found.name;
  }
  return undefined;
}

/** A value as people say it. A thing that exists is told by its name, one that will be made, or `whole`, by all it has. */
export function wordsOfValue(value: unknown, of = '', whole = false): string {
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  if (value === '') return '(empty)';
  if (value === undefined || isEmpty(value)) return 'none';
  if (typeof value === 'string') return wordsOfText(value);
  if (Array.isArray(value)) return wordsOfList(value, whole);
  if (!isObject(value)) return JSON.stringify(value);
  if (CHOSEN.test(of)) return namedTexts(Object.entries(value));
  if (typeof value.key === 'string' && 'value' in value) return namedTexts([[value.key, value.value]]);
  const name = NAMES.map((one) => value[one]).find((one) => typeof one === 'string') ?? nameOf(value.id);
  if (name !== undefined && !isNew(value) && !whole) return wordsOfValue(name);
  return linesOf([], value).join('\n') || wordsOfValue(value.id);
}

const wordsOfList = (list: readonly unknown[], whole: boolean): string =>
  list.map((one) => wordsOfValue(one, '', whole)).join(list.some(whole ? isObject : isNew) ? '\n\n' : ', ');

const namedTexts = (entries: [string, unknown][]): string =>
  entries.map(([name, one]) => `${name}: ${wordsOfValue(one)}`).join('\n');

function wordsOfText(text: string): string {
  if (ID.test(text)) return nameOf(text) ?? text;
  return TIME.test(text) && !Number.isNaN(timeOf(text).getTime()) ? exactly(text) : text;
}

/** What a rule of a security group doesn't name, it lets all of pass. */
const isForAll = (
  name: string,
  { direction, remote_group_id: group }: { direction?: unknown; remote_group_id?: unknown },
) =>
  direction !== undefined &&
  (name === 'remote_ip_prefix' ? isEmpty(group ?? null) : /^(protocol|port_range_m..)$/.test(name));

const isNew = (value: unknown): boolean => isObject(value) && value.id === MADE;

function linesOf(path: readonly string[], value: object): string[] {
  return Object.entries(value)
    .map(([name, one]) => [name, one === null && isForAll(name, value) ? 'any' : one] as const)
    .filter(([name, one]) => one !== MADE && !isEmpty(one) && isSaid(name, value))
    .flatMap(([name, one]) => {
      const inner = [...path, name];
      if (isObject(one) && !CHOSEN.test(name) && !NAMES.some((known) => known in one)) return linesOf(inner, one);
      const text = wordsOfValue(one, name);
      return [`${labelOf(inner, text)}: ${text}`];
    });
}

/** What is called an ID and told by a name is named without it, as is a name. */
const labelOf = (path: readonly string[], ...texts: (string | undefined)[]): string =>
  texts.some((text) => /^\d+$|[\da-f]{8}-[\da-f]{4}-/.test(text ?? ''))
    ? wordsOf(path)
    : wordsOf(path).replace(/ (?:ID(s?)|name)$/, '$1');

/** A difference in plain words. An ID is told as the name of what it is of, if the page knows that. */
export function inWords({ path, chosen = false, ...values }: Difference) {
  const said = (whole: boolean) =>
    [values.before, values.after].map((one) => (one === undefined ? undefined : wordsOfValue(one, path.at(-1), whole)));
  const names = said(chosen);
  // Of the same thing, what is different is not its name.
  const [before, after] = names[0] !== undefined && names[0] === names[1] ? said(true) : names;
  return { path, name: path.length === 0 ? 'All of it' : labelOf(path, before, after), before, after, chosen };
}
