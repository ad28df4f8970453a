import { randomUUID } from 'node:crypto';
import type { Transaction } from '../../../../db/database.ts';

export interface Attachment {
  instance_id: string;
  boot_index: number | null;
}

export async function attachmentOf(tx: Transaction, volumeId: string): Promise<Attachment | undefined> {
  return tx.sql
    .selectFrom('volume_attachments')
    .select(['instance_id', 'boot_index'])
    .where('volume_id', '=', volumeId)
    .executeTakeFirst();
}

/** Returns the instance that has the volume. If the instance is a node, also its pool and cluster. */
export async function hostOf(tx: Transaction, volumeId: string) {
  return tx.sql
    .selectFrom('volume_attachments as attachment')
    .innerJoin('instances', 'instances.id', 'attachment.instance_id')
    .leftJoin('kubernetes_pools as pool', 'pool.id', 'instances.pool_id')
    .leftJoin('kubernetes_clusters as cluster', 'cluster.id', 'pool.cluster_id')
    .select(['instances.id', 'instances.name', 'pool.name as pool', 'cluster.name as cluster'])
    .where('attachment.volume_id', '=', volumeId)
    .executeTakeFirst();
}

export async function devicesOf(tx: Transaction, instanceId: string): Promise<string[]> {
  const rows = await tx.sql
    .selectFrom('volume_attachments')
    .select('device')
    .where('instance_id', '=', instanceId)
    .execute();
  return rows.map(({ device }) => device);
}

/** Inserts an attachment of a volume that doesn't boot and that stays when the instance is deleted. */
export async function insertAttachment(
  tx: Transaction,
  attachment: { volumeId: string; instanceId: string; device: string; tag: string | null },
): Promise<void> {
  await tx.sql
    .insertInto('volume_attachments')
    .values({
      id: randomUUID(),
      volume_id: attachment.volumeId,
      instance_id: attachment.instanceId,
      device: attachment.device,
      attachment_tag: attachment.tag,
      delete_on_termination: false,
      boot_index: null,
      attached_at: null,
    })
    .execute();
}

export async function deleteAttachment(tx: Transaction, volumeId: string): Promise<void> {
  await tx.sql.deleteFrom('volume_attachments').where('volume_id', '=', volumeId).execute();
}
