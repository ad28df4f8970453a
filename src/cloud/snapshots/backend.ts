import type { Provisioner } from '../provisioning/provisioner.ts';

/** What carries out the life of snapshots. */
export type SnapshotBackend = Provisioner<{ id: string; volumeId: string }>;
