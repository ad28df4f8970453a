import { closestName } from '../lib/texts.ts';

/** A part of the paths of an API: what may follow, by its text, such as `v1` or `:project_id`. */
interface Part {
  next: Map<string, Part>;
  /** Whether only digits fit. */
  integer: boolean;
  /** Of the path that ends here, if one does. */
  methods?: ReadonlySet<string>;
}

export interface KnownPath {
  /** As it is registered, such as `/cloud/v1/projects/:project_id`. */
  url: string;
  methods: ReadonlySet<string>;
  /** The parameters that are integers. */
  integers: ReadonlySet<string>;
}

/** A way through the parts. */
interface Way {
  at: Part;
  path: string;
  /** 0 while nothing was taken for a mistake. */
  mistake: number;
  /** Whether a text has to follow, no parameter: any text would fit that. */
  guessed?: boolean;
}

const MISTAKES = { version: 1, spelling: 2, missing: 3 };
/** Counts more than any mistake. */
const OTHER_METHOD = 10;
const VERSION = /^v\d+$/i;
const LONGEST = 1_000;

/**
 * Returns a function that finds the known path that was most likely meant: one that differs by its version, by one
 * misspelt part, or by one that is missing. It goes through the parts once, with one mistake at most, so that strangers
 * can't make it expensive.
 */
export function nearestPaths(
  known: Iterable<KnownPath>,
): (method: string, path: string) => string | undefined {
  const root: Part = { next: new Map(), integer: false };
  let depth = 0;
  for (const { url, methods, integers } of known) {
    if (url.includes('*')) continue;
    const texts = url.split('/').slice(1);
    depth = Math.max(depth, texts.length);
    partAt(root, texts, integers).methods = methods;
  }

  return (method, path) => {
    const texts = path.split('/').slice(1);
    if (path.length > LONGEST || texts.length > depth) return undefined;
    const begun: Way[] = [{ at: root, path: '', mistake: 0 }];
    const ends = texts
      .reduce((ways, text) => ways.concat(withMissing(ways)).flatMap((way) => after(way, text)), begun)
      .flatMap((way) => [way, ...withMissing([way]).filter((more) => more.path.endsWith('}'))])
      .flatMap(({ at, path, mistake }) =>
        at.methods ? [{ path, rank: mistake + (at.methods.has(method) ? 0 : OTHER_METHOD) }] : [],
      );
    return ends.sort((a, b) => a.rank - b.rank)[0]?.path;
  };
}

function partAt(root: Part, texts: readonly string[], integers: ReadonlySet<string>): Part {
  return texts.reduce((part, text) => {
    const known = part.next.get(text) ?? { next: new Map(), integer: integers.has(text.slice(1)) };
    part.next.set(text, known);
    return known;
  }, root);
}

/** Returns the ways that go on with a text: as it is, and as it may have been meant. */
function after({ at, path, mistake, guessed }: Way, text: string): Way[] {
  const ways: Way[] = [];
  for (const [name, next] of at.next)
    if (isParameter(name) ? !guessed && (!next.integer || /^\d+$/.test(text)) : name === text)
      ways.push({ at: next, path: `${path}/${text}`, mistake });
  if (mistake > 0) return ways;
  const names = [...at.next.keys()].filter((name) => !isParameter(name) && name !== text);
  const meant = closestName(text, names);
  for (const name of names) {
    const next = at.next.get(name) as Part;
    if (VERSION.test(text) && VERSION.test(name))
      ways.push({ at: next, path: `${path}/${name}`, mistake: MISTAKES.version });
    else if (name === meant) ways.push({ at: next, path: `${path}/${name}`, mistake: MISTAKES.spelling });
  }
  return ways;
}

/** Returns the ways to which one part is added that nobody typed. */
function withMissing(ways: readonly Way[]): Way[] {
  return ways
    .filter(({ mistake }) => mistake === 0)
    .flatMap(({ at, path }) =>
      [...at.next].map(([name, next]) => ({
        at: next,
        path: `${path}/${isParameter(name) ? `{${name.slice(1)}}` : name}`,
        mistake: MISTAKES.missing,
        guessed: !isParameter(name),
      })),
    );
}

const isParameter = (name: string): boolean => name.startsWith(':');
