import fs from 'node:fs';

/** What V8 writes for `--cpu-prof`; times in microseconds of the clock of `process.hrtime`. */
export interface Profile {
  startTime: number;
  nodes: { id: number; children?: number[]; callFrame: Frame }[];
  samples: number[];
  timeDeltas: number[];
}

interface Frame {
  functionName: string;
  url: string;
  /** From 0. */
  lineNumber: number;
  columnNumber: number;
}

const GARBAGE = 'garbage collection';
const NODE = 'Node itself';
const SENDING = 'system call that answers';
const SQL = 'SQL';
export const OWN = 'the operation itself';
/** Functions of V8 and of Node's inner side, which are in no file. */
const INNER = new Map([
  ['(garbage collector)', GARBAGE],
  ['writev', SENDING],
  ['writeBuffer', SENDING],
  ['writeUtf8String', SENDING],
  ['writeLatin1String', SENDING],
]);

/** By the file in which the function is written; the first that matches. */
const PARTS: [part: string, files: RegExp][] = [
  ['routing', /\/find-my-way\//],
  ['authentication', /^src\/(iam\/identity\/|http\/authentication|db\/row-cache)/],
  ['rate limit', /\/rate-limiter-flexible\/|^src\/http\/rate-limits/],
  ['body', /^src\/http\/(json-body|json-size|text-guard)/],
  ['validation', /\/ajv\/|^src\/http\/(compilers|text-keywords)/],
  ['serialisation', /\/fast-json-stringify\/|presenter\.ts$/],
  [SQL, /\/(pg|pg-pool|pg-protocol|pg-types|kysely)\/|^src\/db\/|store\.ts$/],
  ['logging, metrics', /\/(pino|prom-client|sonic-boom)\/|^src\/(log|http\/(access-log|metrics|request-figures))/],
  ['record of the request', /^src\/(requests|cloud\/user-actions)\/|^src\/http\/changing-requests/],
  ['other hooks', /^src\/http\//],
  ['fastify', /\/fastify\//],
  [OWN, /^src\//],
];
export const ALL_PARTS: readonly string[] = [...PARTS.map(([part]) => part), NODE, SENDING, GARBAGE];

/** The file of a place in the bundle; both count from 0. */
export type FileAt = (line: number, column: number) => string;

/** Reads what the build notes beside the bundle: `places` has [line, column, source, source line, ...], from 1. */
export function filesOfBundle(bundle: string): FileAt {
  const { sources, places }: { sources: string[]; places: number[] } = JSON.parse(
    fs.readFileSync(`${bundle}.lines`, 'utf8'),
  );
  return (line, column) => {
    let [low, high] = [0, places.length / 4];
    while (low < high) {
      const middle = (low + high) >> 1;
      const after = (places[middle * 4] ?? 0) - line - 1 || (places[middle * 4 + 1] ?? 0) - column - 1;
      if (after > 0) high = middle;
      else low = middle + 1;
    }
    return sources[places[(low - 1) * 4 + 2] ?? -1] ?? '';
  };
}

/** Returns the microseconds between two times that the process spent in each part. Being idle is left out. */
export function timeByPart(
  profile: Profile,
  fileAt: FileAt,
  { from, to }: { from: number; to: number },
): Map<string, number> {
  const nodes = new Map(profile.nodes.map((node) => [node.id, node]));
  const callerOf = new Map(
    profile.nodes.flatMap(({ id, children = [] }) => children.map((child) => [child, id] as const)),
  );
  const known = new Map<number, string>();

  /** The part of the innermost function that belongs to one. */
  function partOf(id: number): string {
    const earlier = known.get(id);
    if (earlier !== undefined) return earlier;
    const frame = nodes.get(id)?.callFrame;
    const caller = callerOf.get(id);
    const own = frame && partOfFrame(frame, fileAt);
    const callersPart = caller === undefined ? NODE : partOf(caller);
    // What is sent to the database has the same inner functions as an answer.
    const part = own === undefined || (own === SENDING && callersPart === SQL) ? callersPart : own;
    known.set(id, part);
    return part;
  }

  const times = new Map<string, number>();
  let now = profile.startTime;
  for (const [at, id] of profile.samples.entries()) {
    const took = profile.timeDeltas[at] ?? 0;
    now += took;
    if (now < from || now > to || nodes.get(id)?.callFrame.functionName === '(idle)') continue;
    const part = partOf(id);
    times.set(part, (times.get(part) ?? 0) + took);
  }
  return times;
}

function partOfFrame({ functionName, url, lineNumber, columnNumber }: Frame, fileAt: FileAt): string | undefined {
  if (url === '') return INNER.get(functionName);
  if (!url.endsWith('bundle.js')) return undefined;
  const file = fileAt(lineNumber, columnNumber);
  // Both kinds of generated functions are called from here.
  if (file === 'src/http/compilers.ts' && functionName === 'serialize') return 'serialisation';
  // Any other package works for the one that calls it.
  return PARTS.find(([, files]) => files.test(file))?.[0];
}
