import { ALL_RESOURCES, type ResourceType } from '../../../lib/resources.ts';

/** A kind of thing in projects, and how to find it. All texts but `kind` and `many` are SQL. */
export interface Kind {
  kind: string;
  type: ResourceType;
  many: string;
  stage: number;
  rows: string;
  key: string;
  own: string;
  held: string;
  region: string;
  user: string;
}

/**
 * What projects have, in the order of its removal. A thing that is still in use is refused by its use case, and tried
 * again later: the stages save attempts. While something of a stage can't go, what is in later ones stays too.
 */
export const KINDS: readonly Kind[] = ALL_RESOURCES.flatMap(([type, card]) => {
  const { removal, kept = {}, word, many, table } = card;
  if (!removal) return [];
  return {
    type,
    many,
    kind: removal.as ?? word,
    stage: removal.stage,
    rows: removal.from ?? kept.from ?? table ?? '',
    key: removal.key ?? 'id',
    own: [kept.own, removal.own].flatMap((one) => one ?? []).join(' and ') || 'true',
    held: removal.held ?? 'task_id is not null',
    region: kept.anywhere ? 'null' : 'region_id',
    user: removal.user ?? 'null',
  };
}).sort((one, other) => one.stage - other.stage);

/** @throws TypeError */
export function kindOf(name: string): Kind {
  const kind = KINDS.find((one) => one.kind === name);
  if (!kind) throw new TypeError(`Projects have no ${name}`);
  return kind;
}
