import type { ImageSpec } from '../../../backends/contract/specs.ts';
import type { ImageRow } from './store.ts';

type Shown = Pick<
  ImageRow,
  'name' | 'os_type' | 'architecture' | 'ssh_key' | 'is_baremetal' | 'hw_firmware_type' | 'hw_machine_type'
>;

/** What an image is made of, once and for all. */
export type ImageOrigin = Pick<ImageSpec, 'volumeId' | 'sourceUrl' | 'copyOnWrite'>;

export function imageSpec(image: Shown, origin: ImageOrigin, metadata: Record<string, string>): ImageSpec {
  return {
    name: image.name,
    ...origin,
    osType: image.os_type,
    architecture: image.architecture,
    properties: {
      ssh_key: image.ssh_key,
      is_baremetal: String(image.is_baremetal),
      hw_firmware_type: image.hw_firmware_type,
      hw_machine_type: image.hw_machine_type,
    },
    metadata,
  };
}
