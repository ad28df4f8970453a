import { createHash } from 'node:crypto';
import { type Static, Type } from 'typebox';
import type { Kind } from '../src/backends/contract/backend.ts';
import { globOf } from '../src/lib/texts.ts';
import { LIVES } from './lives.ts';

const PHASES = ['making', 'changing', 'removing'] as const;
const whole = (description: string) => Type.Integer({ minimum: 1, maximum: 1_000_000, description });

/** Which calls a rule applies to. A field that is left out matches every call. */
const where = {
  kind: Type.Optional(Type.Enum(Object.keys(LIVES) as Kind[], { description: 'Only resources of this kind.' })),
  name: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 100,
      // With more wildcards, some texts would take long to match.
      pattern: '^[^*]*(\\*[^*]*){0,2}$',
      description: 'Only resources with this name or ID: `?` stands for one character, `*` (twice at most) for any.',
    }),
  ),
  phase: Type.Optional(
    Type.Enum([...PHASES], { description: 'Only while the resource is created, changed or removed.' }),
  ),
  call: Type.Optional(
    whole('The first call about a resource to which the fault applies, counted among the calls that match.'),
  ),
  times: Type.Optional(
    whole(
      'Number of calls about a resource to which the fault applies. If left out: one if `call` is given, else all.',
    ),
  ),
  probability: Type.Optional(Type.Number({ minimum: 0, maximum: 1 })),
  seed: Type.Optional(Type.Integer({ description: 'The same seed gives the same random numbers.' })),
};
const reason = Type.Optional(Type.String({ minLength: 1, maxLength: 300 }));
const rule = <P extends Parameters<typeof Type.Object>[0]>(properties: P) =>
  Type.Object({ ...where, ...properties }, { additionalProperties: false });

const variants = [
  rule({ do: Type.Literal('refuse'), reason }),
  rule({ do: Type.Literal('unavailable'), reason }),
  rule({ do: Type.Literal('stay') }),
  rule({
    do: Type.Literal('slow'),
    factor: Type.Optional(Type.Number({ minimum: 1, maximum: 10_000 })),
    ms: Type.Optional(whole('How long the call itself takes.')),
  }),
  rule({ do: Type.Literal('lose-answer') }),
] as const;
export type FaultRule = Static<(typeof variants)[number]>;
const FaultRule = Type.Unsafe<FaultRule>({
  type: 'object',
  discriminator: { propertyName: 'do' },
  oneOf: variants,
});
export const FaultRules = Type.Array(FaultRule, { maxItems: 100 });
type Phase = (typeof PHASES)[number];

/** A call to the backend about one thing. */
export interface FaultyCall {
  kind: Kind;
  id: string;
  name: string | undefined;
  phase: Phase;
}

export interface Faults {
  /** Whether there are any rules. */
  readonly any: boolean;
  /** Counts the call and returns the rule for what goes wrong with it, if any. */
  next(call: FaultyCall): FaultRule | undefined;
}

/** How many things each rule remembers the calls of. Beyond that, the oldest are forgotten and start again. */
const MOST_COUNTED = 10_000;

/** Picks faults by rule: the first rule that applies wins. Calls are counted in this process. */
export function createFaults(rules: readonly FaultRule[] = []): Faults {
  const counters = rules.map((rule) => ({
    rule,
    name: rule.name && globOf(rule.name),
    calls: new Map<string, number>(),
    draws: 0,
  }));
  type Counter = (typeof counters)[number];

  function applies({ rule, name, calls }: Counter, call: FaultyCall): boolean {
    if (rule.kind !== undefined && rule.kind !== call.kind) return false;
    if (rule.phase !== undefined && rule.phase !== call.phase) return false;
    if (name && !name(call.name ?? '') && !name(call.id)) return false;
    const key = `${call.kind}:${call.id}`;
    const number = (calls.get(key) ?? 0) + 1;
    calls.delete(key);
    calls.set(key, number);
    if (calls.size > MOST_COUNTED) calls.delete(calls.keys().next().value as string);
    const first = rule.call ?? 1;
    const times = rule.times ?? (rule.call === undefined ? Number.POSITIVE_INFINITY : 1);
    return number >= first && number < first + times;
  }

  function drawn(counter: Counter): boolean {
    const { probability, seed = 0 } = counter.rule;
    return probability === undefined || draw(seed, ++counter.draws) < probability;
  }

  return {
    any: rules.length > 0,
    next(call) {
      // Every rule counts the call, whichever comes first.
      const those = counters.filter((counter) => applies(counter, call));
      return those.find(drawn)?.rule;
    },
  };
}

/** Returns a number from 0 to 1, always the same for the same arguments. */
export function draw(seed: number, index: number): number {
  return createHash('sha256').update(`${seed}:${index}`).digest().readUInt32BE() / 2 ** 32;
}
