export { availabilityOf, putForClient, shutUnavailable } from './availability/store.ts';
