import type { Database, Transaction } from '../../../db/database.ts';
import { NotFoundError } from '../../../lib/errors.ts';
import { found } from '../../../lib/found.ts';
import { presentedTags } from '../../../lib/tag-list.ts';
import { acceptedTags } from '../../../lib/tags-input.ts';
import { patchedTags } from '../../../lib/tags-patch.ts';
import type { Scope } from '../projects/service.ts';

type Tags = Record<string, string>;

/** What each kind of resource provides, so that its tags can be read and changed on their own. */
export interface TagHolder {
  /** @throws NotFoundError */
  read(scope: Scope, id: string): Promise<{ tags: Tags }>;
  /**
   * Writes the tags that `plan` returns. The resource is locked meanwhile.
   * @throws NotFoundError, ForbiddenError and ConflictError if the resource can't be changed, and what `plan` throws
   */
  change(tx: Transaction, scope: Scope, id: string, plan: (tags: Tags) => Tags): Promise<void>;
}

/** Tags of a resource, as resources of their own. All methods throw NotFoundError, and what the holder throws. */
export interface Metadata {
  list(scope: Scope, id: string): Promise<ReturnType<typeof presentedTags>>;
  /** @throws NotFoundError, also for a tag that isn't there */
  get(scope: Scope, id: string, key: string): Promise<ReturnType<typeof presentedTags>[number]>;
  /** Sets these tags and keeps the others. @throws InvalidError */
  add(scope: Scope, id: string, tags: Tags): Promise<void>;
  /** @throws InvalidError */
  replace(scope: Scope, id: string, tags: Tags): Promise<void>;
  /** @throws NotFoundError, also for a tag that isn't there */
  remove(scope: Scope, id: string, key: string): Promise<void>;
}

/** The kinds of resources whose tags have their own paths. */
export type Family =
  | 'fileShare'
  | 'floatingIp'
  | 'image'
  | 'instance'
  | 'loadBalancer'
  | 'network'
  | 'securityGroup'
  | 'subnet'
  | 'volume';
export type MetadataOf = Record<Family, Metadata>;

export function createMetadata({
  database,
  holders,
}: {
  database: Database;
  holders: Record<Family, TagHolder>;
}): MetadataOf {
  return {
    fileShare: metadataOf(database, holders.fileShare),
    floatingIp: metadataOf(database, holders.floatingIp),
    image: metadataOf(database, holders.image),
    instance: metadataOf(database, holders.instance),
    loadBalancer: metadataOf(database, holders.loadBalancer),
    network: metadataOf(database, holders.network),
    securityGroup: metadataOf(database, holders.securityGroup),
    subnet: metadataOf(database, holders.subnet),
    volume: metadataOf(database, holders.volume),
  };
}

function metadataOf(database: Database, holder: TagHolder): Metadata {
  const change = (scope: Scope, id: string, plan: (tags: Tags) => Tags) =>
    database.accept(scope.principal, (tx) => holder.change(tx, scope, id, plan));

  return {
    list: async (scope, id) => presentedTags((await holder.read(scope, id)).tags),

    async get(scope, id, key) {
      const { tags } = await holder.read(scope, id);
      const tag = presentedTags(tags).find((one) => one.key === key);
      return found('Tag', key, tag);
    },

    add: (scope, id, tags) => change(scope, id, (current) => patchedTags(current, tags, '')),

    replace: (scope, id, tags) => change(scope, id, () => acceptedTags(tags, '')),

    remove: (scope, id, key) =>
      change(scope, id, (current) => {
        if (!Object.hasOwn(current, key)) throw new NotFoundError('Tag', key);
        return Object.fromEntries(Object.entries(current).filter(([other]) => other !== key));
      }),
  };
}
