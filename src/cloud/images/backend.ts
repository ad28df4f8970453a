import type { Provisioner } from '../provisioning/provisioner.ts';

/** What carries out the life of images. */
export type ImageBackend = Provisioner<{ id: string; volumeId: string }>;
