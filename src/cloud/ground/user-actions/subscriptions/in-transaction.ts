export { deleteSubscription } from './store.ts';
