import { draw } from '../simulation/index.ts';
import { InvalidError } from '../src/lib/errors.ts';
import { globOf } from '../src/lib/texts.ts';
import type { Effect, Rule, RuleRequest } from './schema.ts';

/** Something that a rule may apply to: a request, or a task with one of its things. */
export interface Occasion {
  /** Decides once: the same occasion may come again. */
  key: string;
  operation?: string;
  tasks?: readonly string[];
  kind?: string;
  names: readonly (string | undefined)[];
  clientIds: readonly number[];
}

const OF_REQUESTS = ['status', 'drop', 'quota'];
const OF_TASKS = ['fail', 'hold'];
/** How many decisions a rule remembers. */
const MOST_KEPT = 10_000;

/** Rules for what goes wrong, added and removed while everything runs. */
export interface Rules {
  /** @throws InvalidError for an effect that doesn't fit what it is to apply to */
  add(request: RuleRequest): Rule;
  list(): Rule[];
  /** Returns false if there is no such rule. */
  remove(id: number): boolean;
  clear(): void;
  /** Whether any rule is about tasks. */
  readonly aboutTasks: boolean;
  /** Returns the effect of the first rule that applies, and when it first did. */
  forRequest(occasion: Occasion): Applied | undefined;
  forTask(occasion: Occasion): Applied | undefined;
}
export interface Applied {
  effect: Effect;
  /** Milliseconds of a clock that tests don't set. */
  since: number;
}

export function createRules(): Rules {
  const rules = new Map<number, Entry>();
  let last = 0;

  const first = (ofTasks: boolean) => (occasion: Occasion) => {
    // Every rule counts, whichever comes first.
    const applied = [...rules.values()].flatMap((entry) =>
      entry.ofTasks === ofTasks && matches(entry, occasion) ? (decide(entry, occasion.key) ?? []) : [],
    );
    return applied[0];
  };

  return {
    add(request) {
      const ofTasks = isOfTasks(request);
      const rule = { ...request, id: ++last, hits: 0 };
      const named = request.name === undefined ? () => true : globOf(request.name);
      rules.set(rule.id, { rule, ofTasks, named, seen: 0, decided: new Map() });
      return rule;
    },
    list: () => [...rules.values()].map(({ rule }) => rule),
    remove: (id) => rules.delete(id),
    clear: () => rules.clear(),
    get aboutTasks() {
      return [...rules.values()].some(({ ofTasks }) => ofTasks);
    },
    forRequest: first(false),
    forTask: first(true),
  };
}

interface Entry {
  rule: Rule;
  ofTasks: boolean;
  named: (text: string) => boolean;
  seen: number;
  decided: Map<string, Applied | undefined>;
}

function isOfTasks({ operation, task, kind, do: effect }: RuleRequest): boolean {
  const [does = ''] = Object.keys(effect);
  const aboutTasks = task !== undefined || kind !== undefined;
  if (operation !== undefined && (aboutTasks || OF_TASKS.includes(does))) {
    throw new InvalidError({
      operation: ['A rule is about requests (operation) or about tasks (task, kind), not both.'],
    });
  }
  if (aboutTasks && OF_REQUESTS.includes(does)) {
    throw new InvalidError({ do: [`${does} is for requests; tasks know fail, hold and delay_ms.`] });
  }
  return aboutTasks || OF_TASKS.includes(does);
}

function matches({ rule, named }: Entry, occasion: Occasion): boolean {
  return (
    (rule.operation === undefined || rule.operation === occasion.operation) &&
    (rule.task === undefined || (occasion.tasks?.includes(rule.task) ?? false)) &&
    (rule.kind === undefined || rule.kind === occasion.kind) &&
    (rule.client_id === undefined || occasion.clientIds.includes(rule.client_id)) &&
    (rule.name === undefined || occasion.names.some((name) => name !== undefined && named(name)))
  );
}

function decide(entry: Entry, key: string): Applied | undefined {
  const { rule, decided } = entry;
  if (decided.has(key)) return decided.get(key);
  const number = ++entry.seen;
  const { nth = 1, times = rule.nth === undefined ? Number.POSITIVE_INFINITY : 1 } = rule;
  const meant = number >= nth && number < nth + times && isDrawn(rule, number);
  const applied = meant ? { effect: rule.do, since: performance.now() } : undefined;
  if (applied) rule.hits++;
  decided.set(key, applied);
  if (decided.size > MOST_KEPT) decided.delete(decided.keys().next().value as string);
  return applied;
}

function isDrawn({ probability, seed = 0 }: Rule, number: number): boolean {
  return probability === undefined || draw(seed, number) < probability;
}
