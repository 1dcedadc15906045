import { byId, element } from './element.js';
import { NONE } from './format.js';

/**
 * Adds a tile and returns the element of its value.
 *
 * @param {string} name
 * @param {string} window the time that the value covers
 */
export function tileOf(name, window) {
  const value = element('dd', {}, NONE);
  const title = element('dt', {}, `${name} `, element('span', { class: 'window' }, window));
  byId('tiles').append(element('div', {}, title, value));
  return value;
}

/**
 * Returns the alarm of a share; none for NaN.
 *
 * @param {number} share
 * @param {readonly [number, number]} bounds
 */
export function alarmOf(share, [warn, bad]) {
  return share >= bad ? 'bad' : share >= warn ? 'warn' : '';
}

/**
 * Colours a tile.
 *
 * @param {HTMLElement} value the element of its value
 * @param {'' | 'warn' | 'bad'} alarm
 */
export function setAlarm(value, alarm) {
  if (value.parentElement !== null) value.parentElement.className = alarm;
}
