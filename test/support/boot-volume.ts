/** What an instance of a test boots from if it doesn't matter: an image of the shipped catalogue. */
export const BOOT_VOLUME = { source: 'image', image_id: 'd30931af-8845-4913-a690-021a990a917f' };
