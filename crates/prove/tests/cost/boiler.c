/* A controller of a boiler: which of three things it does with its burner, pump and valve, from twelve readings. */
#define COLD 40
#define WARM 65
#define HOT 90
#define LIMIT 110
#define LOW_PRESSURE 8
#define HIGH_PRESSURE 25
#define MIN_FLOW 3

enum { OFF = 0, HOLD = 1, ON = 2, ALARM = 3 };

static int water, target, pressure, flow, outside, night, manual, burner_on, pump_on, faults, tank, season;

static int comfort(void)
{
    int wanted = target;
    if (night && outside > 0)
        wanted = wanted - 5;
    if (outside < -10)
        wanted = wanted + 10;
    else if (outside < 0)
        wanted = wanted + 5;
    if (season == 2 && outside > 18)
        wanted = COLD;
    return wanted;
}

static int too_hot(void)
{
    return water >= LIMIT || (water > HOT && pressure > HIGH_PRESSURE);
}

static int dry(void)
{
    return pressure < LOW_PRESSURE && (flow < MIN_FLOW || tank == 0);
}

static int may_burn(void)
{
    int safe = !too_hot() && !dry();
    if (faults > 2)
        safe = 0;
    if (manual == 1 && faults == 0)
        safe = safe && water < HOT;
    return safe;
}

static int burner(void)
{
    int wanted = comfort();
    int low = wanted - 3, high = wanted + 3;
    if (!may_burn())
        return OFF;
    if (water < low)
        return ON;
    if (water > high)
        return OFF;
    if (burner_on)
        return water <= wanted ? ON : HOLD;
    return water < wanted - 1 ? HOLD : OFF;
}

static int pump(int burning)
{
    if (dry())
        return OFF;
    if (burning == ON || water > WARM)
        return ON;
    if (pump_on && water > COLD)
        return HOLD;
    if (outside < 2 && night == 0)
        return HOLD;
    return OFF;
}

static int valve(int burning, int pumping)
{
    int open = 0;
    if (pumping != OFF)
        open = 50;
    if (burning == ON && water > COLD + 10)
        open = open + 25;
    if (water - target > 10)
        open = open - 20;
    if (tank > 80 && season != 2)
        open = open + 10;
    if (open > 100)
        open = 100;
    if (open < 0)
        open = 0;
    return open;
}

int control(int a_water, int a_target, int a_pressure, int a_flow, int a_outside, int a_night, int a_manual,
            int a_burner, int a_pump, int a_faults, int a_tank, int a_season)
{
    int burning, pumping, opened;
    water = a_water;
    target = a_target;
    pressure = a_pressure;
    flow = a_flow;
    outside = a_outside;
    night = a_night;
    manual = a_manual;
    burner_on = a_burner;
    pump_on = a_pump;
    faults = a_faults;
    tank = a_tank;
    season = a_season;
    burning = burner();
    pumping = pump(burning);
    opened = valve(burning, pumping);
    if (too_hot() && pumping == OFF)
        return ALARM * 1000 + opened;
    if (faults > 5 || (dry() && burner_on))
        return ALARM * 1000 + 999;
    return burning * 1000 + pumping * 200 + opened;
}
