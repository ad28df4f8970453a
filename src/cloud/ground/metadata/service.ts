import type { Transaction } from '../../../db/database.ts';
import { NotFoundError } from '../../../lib/errors.ts';
import { found } from '../../../lib/ids.ts';
import { acceptedTags, patchedTags, presentedTags } from '../../../lib/tags.ts';
import type { Platform, Scope } from '../../../platform.ts';

type Tags = Record<string, string>;
type Tag = ReturnType<typeof presentedTags>[number];

/** What each kind of resource provides, so that its tags can be read and changed on their own. */
export interface TagHolder {
  /** @throws NotFoundError */
  read(on: Platform, scope: Scope, id: string): Promise<{ tags: Tags }>;
  /**
   * Writes the tags that `plan` returns. The resource is locked meanwhile.
   * @throws NotFoundError, ForbiddenError and ConflictError if the resource can't be changed, and what `plan` throws
   */
  change(on: Platform, tx: Transaction, scope: Scope, id: string, plan: (tags: Tags) => Tags): Promise<void>;
}

/* Tags of a resource, as resources of their own. All throw NotFoundError, and what the holder throws. */

export async function listTags(on: Platform, of: TagHolder, scope: Scope, id: string): Promise<Tag[]> {
  return presentedTags((await of.read(on, scope, id)).tags);
}

/** @throws NotFoundError, also for a tag that isn't there */
export async function getTag(on: Platform, of: TagHolder, scope: Scope, id: string, key: string): Promise<Tag> {
  return found(
    'Tag',
    key,
    (await listTags(on, of, scope, id)).find((one) => one.key === key),
  );
}

/** Sets these tags and keeps the others. @throws InvalidError */
export const addTags = (on: Platform, of: TagHolder, scope: Scope, id: string, tags: Tags): Promise<void> =>
  changeTags(on, of, scope, id, (current) => patchedTags(current, tags, ''));

/** @throws InvalidError */
export const replaceTags = (on: Platform, of: TagHolder, scope: Scope, id: string, tags: Tags): Promise<void> =>
  changeTags(on, of, scope, id, () => acceptedTags(tags, ''));

/** @throws NotFoundError, also for a tag that isn't there */
export const removeTag = (on: Platform, of: TagHolder, scope: Scope, id: string, key: string): Promise<void> =>
  changeTags(on, of, scope, id, (current) => {
    if (!Object.hasOwn(current, key)) throw new NotFoundError('Tag', key);
    return Object.fromEntries(Object.entries(current).filter(([other]) => other !== key));
  });

const changeTags = (on: Platform, of: TagHolder, scope: Scope, id: string, plan: (tags: Tags) => Tags): Promise<void> =>
  on.database.accept((tx) => of.change(on, tx, scope, id, plan));
