export {
  availabilityOf,
  keepDefaults,
  keepUsed,
  putForClient,
  shutUnavailable,
} from './availability/store.ts';
