import type { VolumeHosts } from '../volumes/hosts.ts';
import { lockInstance } from './store.ts';

/** What volumes need of the instances that they are attached to. */
export const volumeHosts: VolumeHosts = { lock: lockInstance };
