#include <stdio.h>

/* Parking garage: first 30 minutes are free, then 2 euro for every
   hour that has begun, but never more than 15 euro a day. */

#define FREE 30
#define PER_HOUR 2
#define DAYMAX 15

int fee(int minutes)
{
   int f;
   if(minutes<=FREE)
   {
      return 0;
   }
   f=(minutes/60)*PER_HOUR;
   if(minutes%60>=0)
   {
      f+=PER_HOUR;
   }
   if(f>DAYMAX)
   {
      f=DAYMAX;
   }
   return f;
}

int main()
{
   int h1,m1,h2,m2;
   int cars=0,money=0;
   while(scanf("%d:%d %d:%d",&h1,&m1,&h2,&m2)==4)
   {
      int t=(h2*60+m2)-(h1*60+m1);
      if(t<0)
      {
         t+=24*60;
      }
      printf("%d min -> %d EUR\n",t,fee(t));
      money+=fee(t);
      cars++;
   }
   printf("%d cars, %d EUR\n",cars,money);
   return 0;
}
