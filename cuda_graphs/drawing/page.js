// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// The script of a page with a picture (html.py, which also describes the data).
//
// 1. `layOut` gives places to the boxes and links of a plane, inner planes first.
// 2. `collect` lists all visible boxes, frames and links with their places on the sheet.
// 3. `paint` makes elements for those in the window. Too many of them to be read become one path for each colour.
//
// Elements of a box stand in a group with the attributes `data-key` and `data-size`, as in the SVG of a picture.
"use strict";
(() => {
const data = JSON.parse(document.getElementById("scene").textContent);
const D = data.distances;
const MANY = 1200; // boxes in the window; a picture of more has no texts
const SLACK = 300; // pixels around the window that are painted
const LEAST_ZOOM = 0.7; // of the first view
const MOST_ZOOM = 4;
const READABLE = 0.8;
const WEIGHT_OF_BEND = 6; // of a bend that moves aside, which keeps long links straight
const CLICK = 4; // pixels; a pointer that moved more was not a click

const svg = document.querySelector("main > svg");
const sheet = svg.querySelector("g");
const hover = document.querySelector(".hover");
const field = document.querySelector("input");
const output = document.querySelector("output");

// Boxes.

const boxes = []; // all boxes, in the order of a walk, each before the boxes inside it
const byKey = new Map();
const opened = new Set(data.opened);

for (const stack = [[data.planes[0], null]]; stack.length; ) {
  const [part, parent] = stack.pop();
  if (part.boxes) {
    for (const box of [...part.boxes].reverse()) {
      stack.push([box, parent]);
    }
  } else {
    part.parent = parent;
    part.frames ??= [];
    boxes.push(part);
    byKey.set(part.key, part);
    for (const [, number] of [...part.frames].reverse()) {
      stack.push([data.planes[number], part]);
    }
  }
}

const isOpen = (box) => box.frames.length > 0 && opened.has(box.key);

// Layout.

function layOut(plane) {
  const count = plane.boxes.length;
  if (!count) {
    return { plane, width: 0, height: 0, places: [], links: [], lanes: [] };
  }
  const sizes = plane.boxes.map(sizeOf);
  const widthOf = (vertex) => (vertex < count ? sizes[vertex].width : D.GAP_OF_BENDS - D.GAP_X);
  const { x, lanes, edge } = placeColumns(plane, widthOf, count);
  const { top, bottom, height } = placeLayers(plane, sizes, count);
  const layerOf = [];
  plane.layers.forEach((layer, number) => layer.forEach((vertex) => (layerOf[vertex] = number)));
  const places = plane.boxes.map((box, number) => ({
    box,
    x: x[number] - sizes[number].width / 2,
    y: top[layerOf[number]],
    ...sizes[number],
  }));
  const tracks = plane.links.reduce((most, link) => Math.max(most, link[6] + 1), 0);
  const links = plane.links.map((link) => route(link, plane, x, places, top, bottom, layerOf, edge));
  return { plane, width: edge + D.TRACK * tracks, height, places, links, lanes };
}

function sizeOf(box) {
  if (!isOpen(box)) {
    return { width: box.width, height: box.height, frames: [] };
  }
  const [width, height] = box.header;
  const frames = box.frames.map(([label, number, least]) => {
    const layout = layOut(data.planes[number]);
    return {
      label,
      layout,
      width: Math.max(layout.width + 2 * D.FRAME_PAD, least),
      height: layout.height + D.FRAME_HEADER + D.FRAME_PAD,
    };
  });
  const inner = frames.reduce((sum, frame) => sum + frame.width + D.FRAME_GAP, D.FRAME_GAP);
  const deepest = Math.max(...frames.map((frame) => frame.height));
  return { width: Math.max(width, inner), height: height + deepest + D.FRAME_GAP, frames };
}

function placeColumns(plane, widthOf, count) {
  const x = new Array(plane.centres.length);
  const devices = plane.lanes ?? [null];
  const pad = plane.lanes ? D.LANE_PAD : 0;
  const lanes = [];
  let left = 0;
  let edge = 0;
  devices.forEach((device, column) => {
    let low = Infinity;
    let high = -Infinity;
    const members = [];
    for (const all of plane.layers) {
      const layer = plane.lanes ? all.filter((vertex) => plane.columns[vertex] === column) : all;
      const moved = moveAside(layer, plane.centres, widthOf, count);
      layer.forEach((vertex, place) => {
        x[vertex] = moved[place];
        const half = Math.max(widthOf(vertex), 0) / 2;
        low = Math.min(low, x[vertex] - half);
        high = Math.max(high, x[vertex] + half);
        members.push(vertex);
      });
    }
    const width = members.length ? high - low : 0;
    for (const vertex of members) {
      x[vertex] += left + pad - low;
      if (vertex < count) {
        edge = Math.max(edge, x[vertex] + widthOf(vertex) / 2);
      }
    }
    if (plane.lanes) {
      lanes.push({ device, x: left, width: width + 2 * pad });
      edge = Math.max(edge, left + width + 2 * pad);
    }
    left += width + 2 * pad;
  });
  return { x, lanes, edge };
}

// The places of a layer nearest to those of its closed boxes in which no vertices overlap: as in positions.py.
function moveAside(layer, wanted, widthOf, count) {
  const offsets = [];
  const pools = [];
  layer.forEach((vertex, place) => {
    const before = layer[place - 1];
    offsets.push(place ? offsets[place - 1] + (widthOf(before) + widthOf(vertex)) / 2 + D.GAP_X : 0);
    const pool = { mean: wanted[vertex] - offsets[place], mass: vertex < count ? 1 : WEIGHT_OF_BEND, size: 1 };
    while (pools.length && pools[pools.length - 1].mean >= pool.mean) {
      const last = pools.pop();
      pool.mean = (last.mean * last.mass + pool.mean * pool.mass) / (last.mass + pool.mass);
      pool.mass += last.mass;
      pool.size += last.size;
    }
    pools.push(pool);
  });
  const means = pools.flatMap((pool) => new Array(pool.size).fill(pool.mean));
  return offsets.map((offset, place) => offset + means[place]);
}

function placeLayers(plane, sizes, count) {
  let y = plane.lanes ? D.LANE_HEADER + D.LANE_PAD : 0;
  const top = [];
  const bottom = [];
  for (const layer of plane.layers) {
    top.push(y);
    y += layer.reduce((most, vertex) => (vertex < count ? Math.max(most, sizes[vertex].height) : most), 0);
    bottom.push(y);
    y += D.GAP_Y;
  }
  return { top, bottom, height: y - D.GAP_Y + (plane.lanes ? D.LANE_PAD : 0) };
}

// A link with the points of its path, as in layout.py.
function route(link, plane, x, places, top, bottom, layerOf, edge) {
  const [source, target, style, mark, firstBend, bends, track, offset, turned] = link;
  const from = places[source];
  const to = places[target];
  const start = x[source];
  const end = x[target] + offset;
  const points = [[start, from.y + from.height], [start, bottom[layerOf[source]]]];
  if (track >= 0) {
    const at = edge + D.TRACK * (track + 1);
    const upper = bottom[layerOf[source]] + D.GAP_Y / 2;
    const lower = top[layerOf[target]] - D.GAP_Y / 2;
    points.push([start, upper], [at, upper], [at, lower], [end, lower]);
  }
  for (let bend = firstBend; bend < firstBend + bends; bend++) {
    points.push([x[bend], top[layerOf[bend]]], [x[bend], bottom[layerOf[bend]]]);
  }
  points.push([end, to.y]);
  const keys = [plane.boxes[source].key, plane.boxes[target].key];
  if (turned) {
    points.reverse();
    keys.reverse();
  }
  return { style, mark, points, keys, isTrack: track >= 0 };
}

// Everything visible, with places on the sheet.

let whole; // the layout of the outermost plane
let shown = []; // boxes: {box, x, y, width, height, depth, ...}
let lines = []; // links: {points, low, high: the corners of a rectangle around them, depth, ...}
let frames = []; // frames and lanes: rectangles with a label
let farPicture = null; // what `paintFar` has made of this layout

function arrange() {
  whole = layOut(data.planes[0]);
  [shown, lines, frames, farPicture] = [[], [], [], null];
  collect(whole, 0, 0, 0);
}

function collect(layout, dx, dy, depth) {
  for (const lane of layout.lanes) {
    const label = lane.device === null ? "no device" : `device ${lane.device}`;
    const [x, y, width, height] = [dx + lane.x + 2, dy, lane.width - 4, layout.height];
    frames.push({ name: "lane", label, x, y, width, height, depth, indent: 10, down: 16, radius: 8 });
  }
  for (const link of layout.links) {
    const points = link.points.map(([x, y]) => [x + dx, y + dy]);
    const low = [Infinity, Infinity];
    const high = [-Infinity, -Infinity];
    for (const [x, y] of points) {
      [low[0], low[1], high[0], high[1]] = [Math.min(low[0], x), Math.min(low[1], y), Math.max(high[0], x), Math.max(high[1], y)];
    }
    lines.push({ ...link, points, x: low[0], y: low[1], width: high[0] - low[0], height: high[1] - low[1], depth });
  }
  for (const place of layout.places) {
    const [x, y] = [place.x + dx, place.y + dy];
    shown.push({ ...place, x, y, depth });
    let left = x + D.FRAME_GAP;
    const header = place.frames.length ? place.box.header[1] : 0;
    for (const frame of place.frames) {
      const height = place.height - header - D.FRAME_GAP;
      frames.push({
        name: "frame", label: `\u25be ${frame.label}`, x: left, y: y + header, width: frame.width, height, depth: depth + 1,
        indent: 10, down: D.FRAME_HEADER - 6, radius: 6,
      });
      collect(frame.layout, left + D.FRAME_PAD, y + header + D.FRAME_HEADER, depth + 1);
      left += frame.width + D.FRAME_GAP;
    }
  }
}

// Elements.

const NAMESPACE = "http://www.w3.org/2000/svg";

function element(name, attributes = {}, ...children) {
  const made = document.createElementNS(NAMESPACE, name);
  for (const [key, value] of Object.entries(attributes)) {
    made.setAttribute(key, value);
  }
  made.append(...children);
  return made;
}

const short = (value) => String(Math.round(value * 10) / 10);
const at = (x, y) => `translate(${short(x)} ${short(y)})`;

function text(name, x, y, content, extra = {}) {
  return element("text", { class: name, x: short(x), y: short(y), ...extra }, content);
}

const halfOf = (content) => Math.max(7, 3.6 * content.length + 3);

function sign(name, content, x, y) {
  const half = halfOf(content);
  return [
    element("rect", { class: `sign ${name}`, x: short(x - half), y: short(y - 7), width: short(2 * half), height: 14, rx: 7 }),
    text("sign-text", x, y + 4, content),
  ];
}

function rectangle(name, x, y, width, height, radius) {
  return element("rect", { class: name, x: short(x), y: short(y), width: short(width), height: short(height), rx: radius });
}

function frameElement(frame) {
  return element(
    "g", { class: "inner" },
    rectangle(frame.name, frame.x, frame.y, frame.width, frame.height, frame.radius),
    text("frame-label", frame.x + frame.indent, frame.y + frame.down, frame.label),
  );
}

function boxElement(place) {
  const { box, x, y, width, height } = place;
  const isShown = place.frames.length > 0;
  const names = ["box", box.kind, box.colour || data.colours[box.kind]];
  const [left, top, rows] = isShown ? box.header[2] : box.texts;
  const made = element("g", { "data-key": box.key, "data-size": `${short(width)} ${short(height)}`, transform: at(x, y) });
  if (box.frames.length) {
    names.push("folder");
    const state = { tabindex: 0, role: "button", "aria-expanded": isShown, "aria-label": box.hover };
    Object.entries(state).forEach(([key, value]) => made.setAttribute(key, value));
  }
  const outline = isShown
    ? () => rectangle("outline", 0, 0, width, height, 6)
    : () => element("path", { class: "outline", d: data.outlines[box.outline] });
  if (box.badge && !isShown) {
    for (const shift of [6, 3]) {
      made.append(outline());
      made.lastChild.setAttribute("transform", at(shift, shift));
    }
  }
  made.append(outline(), ...rows.map(([name, row], place) => text(name, left, top + place * D.LINE_STEP, row)));
  if (box.badge) {
    made.append(text("badge", width - D.MARGIN, top, box.badge, { "text-anchor": "end" }));
  }
  if (box.notes) {
    names.push("noted");
    made.append(...sign("note", box.numbers, width - Math.max(4, halfOf(box.numbers) - 7), 2));
  }
  if (box.mark) {
    names.push(box.mark);
    made.append(...sign(box.mark, data.signs[box.mark], 4, 2));
  }
  if (isShown) {
    names.push("open");
  }
  if (found.set.has(box)) {
    names.push(box === found.list[found.at] ? "match current" : "match");
  }
  made.setAttribute("class", names.join(" "));
  return made;
}

function linkElement(link) {
  const [x, y] = link.points[link.points.length - 1];
  const isDown = y >= link.points[link.points.length - 2][1];
  const look = link.mark ? `${link.style} ${link.mark}` : link.style;
  return element(
    "g", {},
    element("path", { class: `link ${look}`, "data-from": link.keys[0], "data-to": link.keys[1], d: curve(link) }),
    element("path", { class: `head ${look}`, transform: at(x, y), d: isDown ? "M 0 0 l -4 -8 h 8 z" : "M 0 0 l -4 8 h 8 z" }),
    ...(link.mark ? sign(link.mark, data.signs[link.mark], x, isDown ? y - 17 : y + 17) : []),
  );
}

// Straight along layers, and bent between them. The path ends before the point of the arrow.
function curve({ points, isTrack }) {
  let [x, y] = points[0];
  const parts = ["M", short(x), short(y)];
  points.slice(1).forEach(([u, v], number) => {
    if (number === points.length - 2) {
      v += v >= y ? -4 : 4;
    }
    if (Math.abs(x - u) < 0.05) {
      parts.push("V", short(v));
    } else if (isTrack) {
      parts.push("L", short(u), short(v));
    } else {
      const middle = short((y + v) / 2);
      parts.push("C", short(x), middle, short(u), middle, short(u), short(v));
    }
    [x, y] = [u, v];
  });
  return parts.join(" ");
}

// The view.

const view = { x: 0, y: 0, zoom: 1 }; // the place of the sheet in the window, in pixels
let isWaiting = false;
let painted = null; // the rectangle of the sheet that has elements, at which zoom

function move() {
  if (!isWaiting) {
    isWaiting = true;
    requestAnimationFrame(paint);
  }
}

function paint() {
  isWaiting = false;
  sheet.setAttribute("transform", `translate(${view.x} ${view.y}) scale(${view.zoom})`);
  const { width, height } = svg.getBoundingClientRect();
  const [left, top] = [-view.x / view.zoom, -view.y / view.zoom];
  const [right, bottom] = [left + width / view.zoom, top + height / view.zoom];
  if (painted && painted.zoom === view.zoom && painted.left <= left && painted.top <= top && painted.right >= right && painted.bottom >= bottom) {
    return;
  }
  const slack = SLACK / view.zoom;
  painted = { zoom: view.zoom, left: left - slack, top: top - slack, right: right + slack, bottom: bottom + slack };
  const isNear = (each) =>
    each.x <= painted.right && each.x + each.width >= painted.left && each.y <= painted.bottom && each.y + each.height >= painted.top;
  const near = shown.filter(isNear);
  const focused = document.activeElement?.closest?.("[data-key]")?.dataset.key;
  sheet.replaceChildren(...(near.length > MANY ? paintFar() : paintNear(near, isNear)));
  if (focused !== undefined) {
    (elementOf(focused) ?? svg).focus({ preventScroll: true });
  }
}

function repaint() {
  painted = null;
  move();
}

// One group for each depth: graphs inside boxes lie over them. Links lie under the boxes of their plane.
function paintNear(near, isNear) {
  const groups = [];
  const add = (each, made) => (groups[each.depth] ??= []).push(made);
  frames.filter(isNear).forEach((frame) => add(frame, frameElement(frame)));
  lines.filter(isNear).forEach((link) => add(link, linkElement(link)));
  near.forEach((place) => add(place, boxElement(place)));
  return groups.flat();
}

function paintFar() {
  farPicture ??= makeFar();
  return farPicture;
}

function makeFar() {
  const paths = new Map(); // classes -> parts of the path
  const add = (depth, order, name, part) => {
    const key = `${String(depth).padStart(6, "0")} ${order} ${name}`;
    paths.has(key) ? paths.get(key).push(part) : paths.set(key, [part]);
  };
  const box = (each) => `M${short(each.x)} ${short(each.y)}h${short(each.width)}v${short(each.height)}h${short(-each.width)}z`;
  frames.forEach((frame) => add(frame.depth, 0, `far ${frame.name}`, box(frame)));
  lines.forEach((link) => add(link.depth, 1, "far link", curve(link)));
  shown.forEach((place) => {
    const name = place.frames.length ? "open" : "";
    add(place.depth, 2, `${place.box.colour || data.colours[place.box.kind]} ${name}`, box(place));
    if (found.set.has(place.box)) {
      add(place.depth, 3, "far match", box(place));
    }
  });
  return [...paths.keys()].sort().map((key) => {
    const name = key.slice(9);
    const d = paths.get(key).join("");
    return name.startsWith("far") ? element("path", { class: name, d }) : element("g", { class: name }, element("path", { class: "far outline", d }));
  });
}

const elementOf = (key) => sheet.querySelector(`[data-key="${CSS.escape(key)}"]`);

function zoomTo(zoom, x, y) {
  const next = Math.min(MOST_ZOOM, Math.max(Math.min(fitZoom(), LEAST_ZOOM), zoom));
  view.x = x - ((x - view.x) * next) / view.zoom;
  view.y = y - ((y - view.y) * next) / view.zoom;
  view.zoom = next;
  move();
}

function zoomBy(factor) {
  const { width, height } = svg.getBoundingClientRect();
  zoomTo(view.zoom * factor, width / 2, height / 2);
}

const PAD = 16; // around the picture

function fitZoom() {
  const { width, height } = svg.getBoundingClientRect();
  return Math.min(1, (width - 2 * PAD) / Math.max(whole.width, 1), (height - 2 * PAD) / Math.max(whole.height, 1));
}

// All of the picture if its texts can be read then, else the upper part.
function showFirst() {
  show(Math.max(fitZoom(), LEAST_ZOOM));
}

function show(zoom) {
  const { width } = svg.getBoundingClientRect();
  view.zoom = zoom;
  view.x = Math.max(PAD, (width - whole.width * zoom) / 2);
  view.y = PAD;
  move();
}

function centre(place) {
  const { width, height } = svg.getBoundingClientRect();
  view.zoom = Math.max(view.zoom, READABLE);
  view.x = width / 2 - (place.x + place.width / 2) * view.zoom;
  view.y = height / 2 - (place.y + Math.min(place.height, height / view.zoom / 2) / 2) * view.zoom;
  move();
}

// Opening and closing.

const placeOf = (box) => shown.find((place) => place.box === box);

// Open or close a box. Its upper left corner stays where it is in the window.
function toggle(box) {
  const before = placeOf(box);
  opened.delete(box.key) || opened.add(box.key);
  arrange();
  const after = placeOf(box);
  view.x += (before.x - after.x) * view.zoom;
  view.y += (before.y - after.y) * view.zoom;
  repaint();
}

function setAll(areOpen) {
  opened.clear();
  if (areOpen) {
    boxes.filter((box) => box.frames.length).forEach((box) => opened.add(box.key));
  }
  arrange();
  showFirst();
  repaint();
}

function reveal(box) {
  const before = opened.size;
  for (let around = box.parent; around; around = around.parent) {
    opened.add(around.key);
  }
  if (opened.size > before) {
    arrange();
  }
  centre(placeOf(box));
}

// Search.

const found = { list: [], set: new Set(), at: 0 };
const haystack = boxes.map((box) => [box.hover, ...(box.names ?? [])].join("\n").toLowerCase());

function search() {
  const wanted = field.value.trim().toLowerCase();
  setFound(wanted ? boxes.filter((_, number) => haystack[number].includes(wanted)) : []);
  output.textContent = wanted && !found.list.length ? "none" : output.textContent;
}

function setFound(list) {
  found.list = list;
  found.set = new Set(list);
  found.at = 0;
  goTo(0);
}

function goTo(step) {
  const count = found.list.length;
  farPicture = null;
  output.textContent = "";
  if (count) {
    found.at = (found.at + step + count) % count;
    output.textContent = `${found.at + 1} of ${count}`;
    reveal(found.list[found.at]);
  }
  repaint();
}

// Events.

const ACTIONS = {
  larger: () => zoomBy(1.3),
  smaller: () => zoomBy(1 / 1.3),
  fit: () => show(fitZoom()),
  open: () => setAll(true),
  close: () => setAll(false),
  previous: () => goTo(-1),
  next: () => goTo(1),
};
const KEYS = {
  "+": ACTIONS.larger,
  "=": ACTIONS.larger,
  "-": ACTIONS.smaller,
  0: ACTIONS.fit,
  "/": () => field.focus(),
  ArrowLeft: () => pan(80, 0),
  ArrowRight: () => pan(-80, 0),
  ArrowUp: () => pan(0, 80),
  ArrowDown: () => pan(0, -80),
};

function pan(dx, dy) {
  view.x += dx;
  view.y += dy;
  move();
}

document.addEventListener("click", (event) => {
  const button = event.target.closest("button");
  if (button?.dataset.do) {
    ACTIONS[button.dataset.do]();
  } else if (button?.dataset.note) {
    setFound(boxes.filter((box) => box.notes?.includes(Number(button.dataset.note))));
  }
});
field.addEventListener("input", search);
field.addEventListener("keydown", (event) => {
  if (event.key === "Enter") {
    event.preventDefault();
    goTo(event.shiftKey ? -1 : 1);
  }
});
document.addEventListener("keydown", (event) => {
  if (event.target === field || event.ctrlKey || event.metaKey || event.altKey) {
    return;
  }
  const box = boxAt(event.target);
  const isButton = event.target.closest("button, summary");
  if ((event.key === "Enter" || event.key === " ") && box?.frames.length) {
    event.preventDefault();
    toggle(box);
  } else if (KEYS[event.key] && !isButton) {
    event.preventDefault();
    KEYS[event.key]();
  }
});

function boxAt(target) {
  const group = target.closest?.("[data-key]");
  return group ? byKey.get(group.dataset.key) : undefined;
}

// Pointers: one moves the sheet, two zoom it, and one that does not move clicks.
const pointers = new Map();
let travelled = 0;

const spread = () => {
  const [a, b] = [...pointers.values()];
  return Math.hypot(a.x - b.x, a.y - b.y);
};
const inWindow = (event) => {
  const { left, top } = svg.getBoundingClientRect();
  return { x: event.clientX - left, y: event.clientY - top };
};

svg.addEventListener("pointerdown", (event) => {
  if (event.button === 0) {
    travelled = pointers.size ? CLICK + 1 : 0;
    pointers.set(event.pointerId, inWindow(event));
    hover.hidden = true;
  }
});
window.addEventListener("pointermove", (event) => {
  const before = pointers.get(event.pointerId);
  if (!before) {
    showHover(event);
    return;
  }
  const now = inWindow(event);
  const width = pointers.size === 2 ? spread() : 0;
  travelled += Math.hypot(now.x - before.x, now.y - before.y);
  pointers.set(event.pointerId, now);
  svg.classList.toggle("moving", travelled > CLICK);
  pan((now.x - before.x) / pointers.size, (now.y - before.y) / pointers.size);
  if (width) {
    const [a, b] = [...pointers.values()];
    zoomTo((view.zoom * spread()) / width, (a.x + b.x) / 2, (a.y + b.y) / 2);
  }
});
for (const name of ["pointerup", "pointercancel"]) {
  window.addEventListener(name, (event) => {
    pointers.delete(event.pointerId);
    svg.classList.remove("moving");
  });
}
svg.addEventListener("click", (event) => {
  const box = boxAt(event.target);
  if (travelled <= CLICK && box?.frames.length) {
    toggle(box);
  }
});
svg.addEventListener("wheel", (event) => {
  event.preventDefault();
  const { x, y } = inWindow(event);
  const lines = event.deltaMode === WheelEvent.DOM_DELTA_LINE ? 16 : 1;
  if (event.ctrlKey || event.metaKey) {
    zoomTo(view.zoom * Math.exp((-event.deltaY * lines) / 250), x, y);
  } else {
    const [dx, dy] = event.shiftKey ? [event.deltaY, event.deltaX] : [event.deltaX, event.deltaY];
    pan(-dx * lines, -dy * lines);
  }
}, { passive: false });

function showHover(event) {
  const box = event.target.closest?.("main") ? boxAt(event.target) : undefined;
  hover.hidden = !box;
  if (box) {
    hover.textContent = box.hover;
    const main = svg.getBoundingClientRect();
    const { x, y } = inWindow(event);
    hover.style.left = `${Math.max(0, Math.min(x + 14, main.width - hover.offsetWidth - 4))}px`;
    hover.style.top = `${y + 18 + hover.offsetHeight > main.height ? Math.max(0, y - hover.offsetHeight - 10) : y + 18}px`;
  }
}

svg.addEventListener("pointerleave", () => (hover.hidden = true));
new ResizeObserver(repaint).observe(svg);

arrange();
showFirst();
})();
