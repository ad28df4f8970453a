export { availabilityOf, keepUsed, putForClient, shutUnavailable } from './availability/store.ts';
