import type { ImageSource } from '../../image-sources/in-transaction.ts';
import type { VolumeShape, VolumeWish } from '../sources.ts';

/** A volume that a request asks for, for a new instance. */
export type InstanceVolumeWish = {
  attachment_tag?: string | undefined;
  delete_on_termination?: boolean | undefined;
  boot_index?: number | undefined;
} & (
  | (VolumeWish & { name?: string; tags?: Record<string, string>; metadata?: Record<string, string> })
  | { source: 'existing-volume'; volume_id: string }
);

/** A volume of a new instance: checked, and locked if it exists already. */
export interface PlannedVolume {
  id: string;
  /** Undefined if the volume exists already. */
  made: { name: string | undefined; shape: VolumeShape; tags: Record<string, string> } | undefined;
  image: ImageSource | undefined;
  bootable: boolean;
  deleteOnTermination: boolean;
  attachmentTag: string | null;
  bootIndex: number | null;
}
