import { readFile } from 'node:fs/promises';
import { type Static, Type } from 'typebox';
import { Value } from 'typebox/value';
import { type Document, isNode, LineCounter, parseDocument } from 'yaml';
import { SettingError } from '../../src/lib/errors.ts';

const exact = <P extends Parameters<typeof Type.Object>[0]>(properties: P) =>
  Type.Object(properties, { additionalProperties: false });
const Text = Type.String({ minLength: 1, maxLength: 1_000 });

/** An operation by its name, with its body, and the region if it isn't the first. */
const SeedResource = Type.Record(Type.String(), Type.Unknown());

const SeedFile = exact({
  clients: Type.Array(
    exact({
      company: Text,
      users: Type.Optional(Type.Array(Type.Record(Type.String(), Type.Unknown()), { maxItems: 1_000 })),
      tokens: Type.Optional(
        Type.Array(exact({ name: Text, role: Type.Optional(Text), token: Text }), { maxItems: 100 }),
      ),
      projects: Type.Optional(
        Type.Array(
          exact({
            name: Text,
            description: Type.Optional(Text),
            resources: Type.Optional(Type.Array(SeedResource, { maxItems: 10_000 })),
          }),
          { maxItems: 1_000 },
        ),
      ),
    }),
    { maxItems: 1_000 },
  ),
});
export type SeedFile = Static<typeof SeedFile>;

export type Path = readonly (string | number)[];

/** What the seed file says, and where it says it. */
export interface Seed {
  content: SeedFile;
  /** Returns what to throw for a fault at that place, which may be deeper than the file itself. */
  fault(path: Path, message: string): SettingError;
}

/** Replaces `${NAME}` by a variable of the environment. */
export type Variables = (name: string) => string | undefined;

/** @throws SettingError that names file, line and field of every fault */
export async function readSeed(file: string, variables: Variables): Promise<Seed> {
  const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    throw new SettingError(`TRADEWIND_SEED: ${file} can't be read (${error.code ?? error.message})`);
  });
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false });
  const at = (line: number, message: string) => `${file}:${line} ${message}`;
  const refuse = (faults: string[]) => {
    if (faults.length > 0) throw new SettingError(faults.join('\n'));
  };
  refuse(document.errors.map((error) => at(lines.linePos(error.pos[0]).line, error.message)));
  const sayAt = (path: Path, message: string) => at(lineOf(document, lines, path), `${path.join('.')}: ${message}`);
  const missing: string[] = [];
  const content = filled(document.toJS(), [], (name, path) => {
    const value = variables(name);
    if (value === undefined) missing.push(sayAt(path, `the environment has no variable ${name}`));
    return value ?? '';
  });
  refuse(missing);
  const wrong = [...Value.Errors(SeedFile, content)].map(({ instancePath, message }) =>
    sayAt(partsOf(instancePath), message),
  );
  refuse(wrong);
  return {
    content: content as SeedFile,
    fault: (path, message) => new SettingError(sayAt(path, message)),
  };
}

/** The line of the value, or of the nearest one above it. */
function lineOf(document: Document, lines: LineCounter, path: Path): number {
  for (let length = path.length; length >= 0; length -= 1) {
    const node: unknown = length === 0 ? document.contents : document.getIn(path.slice(0, length), true);
    if (isNode(node) && node.range) return lines.linePos(node.range[0]).line;
  }
  return 1;
}

/** Parts of a JSON pointer. */
const partsOf = (pointer: string): Path =>
  pointer
    .split('/')
    .slice(1)
    .map((part) => (/^\d+$/.test(part) ? Number(part) : part.replaceAll('~1', '/').replaceAll('~0', '~')));

const VARIABLE = /\$\{([A-Za-z_][A-Za-z0-9_]{0,99})\}/g;

function filled(value: unknown, path: Path, variable: (name: string, path: Path) => string): unknown {
  if (typeof value === 'string') return value.replace(VARIABLE, (_, name: string) => variable(name, path));
  if (Array.isArray(value)) return value.map((one, index) => filled(one, [...path, index], variable));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, filled(one, [...path, key], variable)]));
}
