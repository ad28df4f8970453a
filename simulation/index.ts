/* The door of the simulated backend, and of what tests ask of it: faults, and things that hurry or linger. */
export { draw } from './faults.ts';
export { simulated } from './maker.ts';
export { dropObjects, FATES, type Fate, hurryObjects, letBecome, stretchObjects } from './objects.ts';
