/* The door of the simulated backend, and of what tests ask of it: faults, and things that hurry or linger. */
export { draw } from './faults.ts';
export { simulated } from './maker.ts';
export { dropObjects, hurryObjects, stretchObjects } from './objects.ts';
