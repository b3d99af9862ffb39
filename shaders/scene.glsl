/* scene.glsl -- what a kernel reads: C and GLSL at once. renderer/scene.c fills it, once for each request.
 * Only 4-byte scalars, in this order, so that C and std140 lay it out alike. Units: angles have become sines and
 * cosines; lengths are of the frame (-1..1 from edge to edge) or of the planet (radius 1). */

struct scene {
    uint body;             /* enum body */
    uint side;             /* pixels of the frame's side */
    uint layer;            /* enum layer; 0 is the picture */
    uint has_air;          /* 1: limb and halo */
    uint has_caps;         /* 1: polar caps */
    uint has_clouds;       /* 1: clouds and their shadow */
    uint has_rings;        /* 1: rings */
    uint seed_ground;      /* lattice seeds, independent of each other */
    uint seed_cap;
    uint seed_cloud;
    uint seed_crater;
    uint seed_band;
    uint seed_river;
    uint ring_stripes;     /* bit i: stripe or group i of the rings (rings.glsl) is there, else a gap */
    float two_over_side;   /* 2 / side */
    float inverse_radius;  /* frame lengths to planet lengths */
    float halo_squared;    /* outer radius of the halo, squared, planet lengths */
    float sin_spin;        /* of this frame: copied from its struct scene_turn */
    float cos_spin;
    float sin_cloud;
    float cos_cloud;
    float sin_tilt;
    float cos_tilt;
    float sin_roll;
    float cos_roll;
    float light_x;         /* unit vector to the light */
    float light_y;
    float light_z;
    float light_flat_x;    /* its direction on the screen, unit length, or 0 0 when it comes from the viewer */
    float light_flat_y;
    float shade_steps;     /* bands of light */
    float scale;           /* lattice cells on a planet radius */
    float sea_level;       /* less the body's bias */
    float river_depth;     /* rivers run where the land is lower than this over the sea; 0: no rivers */
    float river_sharpness; /* 1 / half width of a channel at the sea, in noise */
    float river_narrowing; /* how much that grows with the height */
    float cloud_line;      /* noise above it is cloud */
    float cloud_scale;     /* cells on a radius, across and along the axis */
    float cloud_scale_y;
    float cap_line;        /* latitude + noise above it is ice */
    float ground_x;        /* where in the endless noise this seed's planet lies */
    float ground_y;
    float ground_z;
    float cloud_x;
    float cloud_y;
    float cloud_z;
    float sin_ring;
    float cos_ring;
    float inverse_open;    /* long axis of the rings over the short one */
    float inverse_tilt;    /* long axis over short one of a circle that lies in the planet's equator */
    float light_reach;     /* how long on the screen is what points away from the light, 0..1 */
    float vary_a;          /* six numbers of the seed, 0 <= v < 1: what they change is the body's own */
    float vary_b;
    float vary_c;
    float vary_d;
    float vary_e;
    float vary_f;
    float rough;           /* how far the ground bends the edges of light bands, in light; 0: not at all */
    float rough_scale;     /* cells of that noise on a planet radius */
    float dither;          /* half the width of the dithered edge between bands, in bands; 0: none */
    float dither_step;     /* that width over the number of the matrix's levels */
    float light_bias;      /* added to the light, in bands, before it is cut */
    uint dither_shift;     /* of six bits of an 8 x 8 matrix, the lowest so many do not count */
    uint moons;            /* 0..3: what follows is of frame and moon, in planet radii; z to the viewer */
    float moon_ax;         /* middle: copied from the frame's struct scene_turn */
    float moon_ay;
    float moon_az;
    float moon_bx;
    float moon_by;
    float moon_bz;
    float moon_cx;
    float moon_cy;
    float moon_cz;
    float moon_ar;         /* radius, and one over it */
    float moon_a_inverse;
    float moon_br;
    float moon_b_inverse;
    float moon_cr;
    float moon_c_inverse;
    uint ring_casts;       /* 1: the rings' shadow can fall on the planet */
    float ring_x;          /* unit vector upright on the plane of the rings, to the viewer's side */
    float ring_y;
    float ring_z;
    float ring_light;      /* 1 / its product with the vector to the light */
    float radius;          /* of the planet, of the frame: one over inverse_radius */
    float relief;          /* how far slopes bend the normal in layer=normal, planet radii of height; 0: a smooth ball */
    float relief_floor;    /* lower ground is level */
    float relief_craters;  /* depth of a crater in its middle, in terrain height; 0: none */
    float relief_step;     /* over which a slope is measured, planet radii */
};
